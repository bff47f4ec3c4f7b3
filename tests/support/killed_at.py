"""A function in a process of its own, killed (SIGKILL) at its so-manieth change of a file."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from support.forked import start

CHANGES = frozenset(("open", "os.rename", "os.remove", "os.mkdir", "os.chmod", "os.truncate", "sqlite3.connect"))


def killed_at(change: int, ended: Path, work: Callable[..., object], *arguments: object) -> bool:
    """Run the function until its change of this number; return whether it was killed before its end."""
    ended.unlink(missing_ok=True)
    start(_run, change, ended, work, arguments).join()
    return not ended.exists()


def _run(change: int, ended: Path, work: Callable[..., object], arguments: tuple[object, ...]) -> None:
    left = change

    def count(event: str, details: tuple[object, ...]) -> None:
        nonlocal left
        if event in CHANGES and str(details[0]).startswith(str(ended.parent)):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    work(*arguments)
    left = 1_000
    ended.touch()
