"""How the process ends: at a signal, at a full disk, at the end of its output."""

import errno
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

INTERRUPTED = 130
TERMINATED = 143
WRITING = frozenset(
    ("sync", "run", "reconcile", "build", "publish", "forget", "lake", "quarantine", "webhooks", "demo")
)
"""The commands that keep what they have done when a signal ends them."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_terminated: list[int] = []
"""The SIGTERM that came, if one did."""


def prepare() -> None:
    """What vetl writes is its owner's alone (the published file says otherwise itself), and SIGTERM is Ctrl-C."""
    os.umask(0o077)
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, _frame: object) -> None:
    """As Ctrl-C: asyncio, DuckDB and subprocesses are prepared for that, and end in order.

    A shell has what it starts in the background ignore Ctrl-C; SIGTERM must end that too.
    """
    _terminated.append(number)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def is_of_interrupt(error: BaseException) -> bool:
    """Return whether a signal is behind an error.

    Libraries meet the signal in the middle of their work: DuckDB raises an error of its own, and what cleans up
    behind Ctrl-C may fail because its work was cut off.
    """
    if _terminated:
        return True
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause and cause not in seen:
        if isinstance(cause, KeyboardInterrupt) or type(cause).__name__ == "InterruptException":
            return True
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return False


def of_interrupt(arguments: Sequence[str]) -> tuple[str, int]:
    """Return what a signal did to a command, and its exit code."""
    why, code = ("terminated", TERMINATED) if _terminated else ("interrupted", INTERRUPTED)
    saves = not WRITING.isdisjoint(arguments)
    return f"{why}. Progress saved; run again to continue" if saves else why, code


def no_room(error: Exception) -> str | None:
    """Where a full disk was met, in one line; `None` for any other error."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return f"{error.filename or 'standard output'}: {os.strerror(error.errno)}"
    return None


def flush() -> str | None:
    """What is still in the buffer may not fit either: in one line, where Python would show a traceback."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - who read it has gone
        return None
    try:
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return no_room(error)
    return None
