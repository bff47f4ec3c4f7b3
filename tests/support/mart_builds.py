"""Builds of the shipped models alone, also killed ones, and the differences between two warehouses' models."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO

import duckdb
import pytest
from support import warm_dbt
from support.dbt_build import VARIABLES, places, run
from support.processes import PATIENCE
from vetl.bundled import dbt_project
from vetl.jobs import build, dbt_process
from vetl.jobs.dbt_process import DATA_ONLY, BuildResult, environment, fingerprint, last_of
from vetl.settings import Settings
from vetl.store.connection import attach
from vetl.store.control import builds

MODELS_ONLY = (*DATA_ONLY, "--exclude-resource-type", "test")


def build_models(
    warehouse: Path,
    *options: str,
    project: Path | None = None,
    full_refresh: bool = False,
    changed_only: bool = False,
) -> None:
    """Build like vetl, but without tests, because these builds are about the rows of the models.

    All models are made, or those that hang on changed rows.
    """
    made_with = fingerprint(warehouse, {})
    with closing(attach(warehouse, lock_wait_seconds=0)) as connection:
        is_full, changed = builds.begin(connection, made_with, full_refresh=full_refresh)
    chosen = dbt_process.options_of(changed, is_full=is_full, all_tests=not changed_only)
    without_tests = ("--exclude-resource-type", "test")
    done = run(warehouse, warehouse.parent, "build", *chosen, *without_tests, *options, project=project)
    assert done.exit_code == 0, done.output
    with closing(attach(warehouse, lock_wait_seconds=0)) as connection:
        builds.finish(connection, made_with, is_full=is_full)


@contextmanager
def untested() -> Generator[None]:
    """Make vetl build without dbt's tests, which take a third of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dbt_process, "options_of", _models_only)
        yield


def _models_only(_changed: Collection[str] | None, *, is_full: bool, **_which: object) -> tuple[str, ...]:
    return (*MODELS_ONLY, *(["--full-refresh"] if is_full else []))


def build_marts_untested(settings: Settings) -> BuildResult:
    with untested():
        result = last_of(build.building(settings))
    assert not result.failures, result.failures
    return result


def was_full(warehouse: Path) -> bool:
    """Return whether the last build was a build in full."""
    with duckdb.connect(warehouse) as connection:  # writable: a killed build leaves a log to be replayed
        [(answer,)] = connection.execute("select is_full from control.builds").fetchall()
    return answer


def built_in_full(warehouse: Path, project: Path | None = None) -> Path:
    """Return a copy of a warehouse beside it, built in full."""
    held, full = warehouse.with_name("held.duckdb"), warehouse.with_name("full.duckdb")
    shutil.copy(warehouse, held)
    build_models(warehouse, project=project, full_refresh=True)  # dbt parses again for a file of another name
    warehouse.replace(full)
    held.replace(warehouse)
    return full


def differences(warehouse: Path, full: Path) -> dict[str, tuple[int, int]]:
    """Return, by table or view, the number of missing and of additional rows compared with a build in full.

    The numbers are -1 for one that only one of the two warehouses has. A day without calls has a row in
    `int_calls_by_day` that no other model shows.
    """
    with _opened(warehouse) as here, _opened(full) as there:
        ours, theirs = _tables(here), _tables(there)
        counts = {name: _unlike(here, there, name) for name in ours & theirs}
    counts |= dict.fromkeys(ours - theirs, (-1, 0)) | dict.fromkeys(theirs - ours, (0, -1))
    return {name: unlike for name, unlike in counts.items() if unlike != (0, 0)}


@contextmanager
def _opened(warehouse: Path) -> Generator[duckdb.DuckDBPyConnection]:
    """Open a warehouse under the name that its views have for it: it was built as `vetl.duckdb`."""
    with duckdb.connect() as connection:
        connection.execute(f"attach '{warehouse}' as vetl (read_only)")
        connection.execute("use vetl")
        yield connection


def _tables(connection: duckdb.DuckDBPyConnection) -> set[str]:
    rows = connection.execute(
        "select distinct schema_name || '.' || table_name from duckdb_columns()"
        " where database_name = 'vetl' and schema_name in ('intermediate', 'marts', 'meta')"
    ).fetchall()
    return {name for (name,) in rows} - {"intermediate.int_calls_by_day"}


def _unlike(here: duckdb.DuckDBPyConnection, there: duckdb.DuckDBPyConnection, table: str) -> tuple[int, int]:
    there.register("ours", here.sql(f"from {table}").to_arrow_table())
    [counts] = there.execute(
        f"select (select count(*) from (from ours except all from {table})),"
        f" (select count(*) from (from {table} except all from ours))"
    ).fetchall()
    return counts


Moment = Callable[[Path], None]
"""Waits, after the model has begun, for the moment to kill."""


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
            *("--no-version-check", "--log-level-file", "none", "--log-format", "json"),
            *("build", *MODELS_ONLY, *VARIABLES),
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
