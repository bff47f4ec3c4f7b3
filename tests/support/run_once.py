"""Work that is done once for all test processes of a run, by the first process that needs it."""

import fcntl
import pickle
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def shared_result(
    factory: pytest.TempPathFactory, config: pytest.Config, name: str, work: Callable[[Path], Any]
) -> Any:
    """Return the result of a work, done in a folder of its own; if it failed, each test that needs it fails."""
    base = factory.getbasetemp()
    folder = (base.parent if hasattr(config, "workerinput") else base) / name  # all processes of a run see it
    folder.mkdir(exist_ok=True)
    stored = folder / "result.pickle"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stored.exists():
            stored.write_bytes(pickle.dumps(_done(folder, work)))
        result, failure = pickle.loads(stored.read_bytes())
    if failure:
        pytest.fail(failure, pytrace=False)
    return result


def _done(folder: Path, work: Callable[[Path], Any]) -> tuple[Any, str]:
    try:
        return work(folder), ""
    except Exception:  # noqa: BLE001 - every test that needs the result gets the error
        return None, traceback.format_exc()
