"""Work that is done once for all test processes of a run, whoever comes first."""

import fcntl
import pickle
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
    """The result of one of several works, each done in a folder of its own.

    While another process is at it, this one begins with the others: it will be asked for them soon.
    """
    for other in (name, *works):
        result = _done(shared, other, works[other], wait=False)
        if other == name and result is not None:
            return result
    return _done(shared, name, works[name], wait=True)


def _done(shared: Path, name: str, work: Work, *, wait: bool) -> Any:
    folder = shared / name
    folder.mkdir(exist_ok=True)
    result = folder / "result.pickle"
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return None
        if not result.exists():
            result.write_bytes(pickle.dumps(work(folder)))
        return pickle.loads(result.read_bytes())
