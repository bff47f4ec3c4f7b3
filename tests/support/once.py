"""Work that is done once for all test processes of a run, whoever comes first."""

import fcntl
import pickle
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

Work = Callable[[Path], Any]


def shared_folder(factory: pytest.TempPathFactory, config: pytest.Config) -> Path:
    """A folder that all test processes of this run see."""
    base = factory.getbasetemp()
    return base.parent if hasattr(config, "workerinput") else base


def once(shared: Path, name: str, works: Mapping[str, Work]) -> Any:
    """The result of one of several works, each done in a folder of its own; where it failed, the test fails too.

    While another process is at it, this one begins with the others: it will be asked for them soon.
    """
    done = _try(shared / name, works[name], wait=False)
    if done is None:
        for other in works:
            _try(shared / other, works[other], wait=False)
        done = _try(shared / name, works[name], wait=True)
    assert done is not None
    result, failure = done
    if failure:
        pytest.fail(failure, pytrace=False)
    return result


def _try(folder: Path, work: Work, *, wait: bool) -> tuple[Any, str] | None:
    """What came of a work, result or failure; nothing while another process does it, unless one waits for that."""
    folder.mkdir(exist_ok=True)
    stored = folder / "result.pickle"
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if not stored.exists():
            stored.write_bytes(pickle.dumps(_done(folder, work)))
        return pickle.loads(stored.read_bytes())


def _done(folder: Path, work: Work) -> tuple[Any, str]:
    try:
        return work(folder), ""
    except Exception:  # noqa: BLE001 - told to every test that asks for the result
        return None, traceback.format_exc()
