"""`dbt build` in a process of its own, killed (SIGKILL) while it computes a model or writes it."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from support import warm_dbt
from support.dbt_build import VARIABLES, places
from support.mart_builds import MODELS_ONLY

from pipelines.bundled import dbt_project
from pipelines.jobs.dbt_process import environment

Moment = Callable[[Path], None]
"""Waits, after the model has begun, for the moment to kill."""
PATIENCE = 30


def at_work(_warehouse: Path) -> None:
    """Wait while the model's statements run: they take some tenths of a second."""
    time.sleep(0.05)


def committing(warehouse: Path) -> None:
    """Wait until a commit begins to write: DuckDB's log grows at no other time."""
    log = warehouse.with_name(f"{warehouse.name}.wal")
    deadline = time.monotonic() + PATIENCE
    before = _size(log)
    while _size(log) == before:
        assert time.monotonic() < deadline, "nothing was committed"


def build_until_killed(warehouse: Path, model: str, moment: Moment) -> None:
    """Build, and kill the build at a model; fail if the build ended before."""
    with subprocess.Popen(
        [
            *warm_dbt.command(),
            "--no-version-check",
            "--log-level-file",
            "none",
            "--log-format",
            "json",
            "build",
            *MODELS_ONLY,
            *VARIABLES,
            *places(dbt_project(), warehouse.parent),
        ],
        env={**os.environ, **environment(warehouse)},
        cwd=warehouse.parent,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        _wait_for_start(process.stdout, model)
        moment(warehouse)
        process.kill()
        process.stdout.read()
    assert process.returncode == -signal.SIGKILL


def _wait_for_start(output: IO[str], model: str) -> None:
    for line in output:
        event = json.loads(line)
        if event["info"]["name"] == "LogStartLine" and event["data"]["node_info"]["node_name"] == model:
            return
    raise AssertionError(f"{model} was never begun")


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
