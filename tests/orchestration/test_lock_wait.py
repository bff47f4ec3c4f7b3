"""A step that writes waits for the holder of the warehouse and names it; no step and no `vetl run` fails."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from vetl.core.errors import WarehouseBusy
from vetl.endpoints import REGISTRY
from vetl.jobs.build import wait_for_writer
from vetl.orchestration.lock_wait import retry_while_locked, wait_for_lock
from vetl.orchestration.resources import as_failures
from vetl.settings import Settings, load_settings
from vetl.store.warehouse import Warehouse

Patience = Callable[[float], Settings]
"""Returns settings that wait so many seconds."""
HOLD = (
    "import duckdb, sys, time; c=duckdb.connect(sys.argv[1]); print(1, flush=True); time.sleep(int(sys.argv[2]))"
)


@contextmanager
def held(path: Path, seconds: int) -> Generator[int]:
    """Let another process have the file open for so long; return its process id."""
    with subprocess.Popen([sys.executable, "-c", HOLD, path, str(seconds)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process.pid


@pytest.fixture
def settings(tmp_path: Path) -> Patience:
    def with_patience(seconds: float) -> Settings:
        config = tmp_path / "vetl.toml"
        config.write_text(f"[warehouse]\npath = 'vetl.duckdb'\nlock_wait_seconds = {seconds}\n")
        with Warehouse.open(tmp_path / "vetl.duckdb", REGISTRY, lock_wait_seconds=0):
            pass
        return load_settings(config)

    return with_patience


def test_the_process_that_holds_the_file_is_reported_once_and_waited_for(settings: Patience) -> None:
    ours, said = settings(60), list[str]()

    with held(ours.warehouse.path, 2) as process:
        wait_for_lock(ours, said.append)

    assert said == [f"Waiting for process {process}, up to 1 minute"]


def test_a_free_file_and_a_missing_one_are_not_talked_about(settings: Patience) -> None:
    ours, said = settings(60), list[str]()

    wait_for_lock(ours, said.append)
    ours.warehouse.path.unlink()
    wait_for_lock(ours, said.append)

    assert said == []
    assert not ours.warehouse.path.exists()


def test_who_is_quicker_between_the_look_and_the_work_is_waited_for_too(settings: Patience) -> None:
    """The first attempt finds the file locked again; no data is lost, and the second attempt succeeds."""
    ours, attempts = settings(60), list[float]()

    def work() -> str:
        attempts.append(time.monotonic())
        if len(attempts) == 1:
            with held(ours.warehouse.path, 1):
                wait_for_writer(ours, 0)
        wait_for_writer(ours, 0)
        return "done"

    assert retry_while_locked(ours, lambda _line: None, work) == "done"
    assert len(attempts) == 2


def test_longer_than_the_setting_is_a_failure_with_the_holder_in_it(settings: Patience) -> None:
    ours = settings(0.5)

    def build() -> Any:
        return retry_while_locked(ours, lambda _line: None, lambda: wait_for_writer(ours, 0))

    with held(ours.warehouse.path, 30) as process:
        with pytest.raises(dg.Failure, match=f"process {process} holds it") as caught, as_failures():
            build()
        os.kill(process, signal.SIGKILL)  # as a child of a process that ran Dagster, it may ignore other signals

    assert caught.value.allow_retries is False
    assert isinstance(caught.value.__cause__ or caught.value.__context__, WarehouseBusy)
