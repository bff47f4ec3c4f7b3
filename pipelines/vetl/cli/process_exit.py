"""End the process in order after a signal, on a full disk, and if standard output cannot be written."""

import codecs
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper

from vetl.core.errors import MAKE_ROOM, NO_ROOM

INTERRUPTED = 130
TERMINATED = 143
WRITING = frozenset(
    ("sync", "run", "reconcile", "build", "publish", "forget", "lake", "quarantine", "webhooks", "demo")
)
"""The commands that keep their progress if a signal ends them."""

_terminated: list[int] = []
"""The number of SIGTERM, once it has arrived."""


def prepare() -> None:
    """Create files that only their owner can read, write every character, and handle SIGTERM as Ctrl-C.

    The published file sets its own permissions.
    """
    os.umask(0o077)
    _write_every_character()
    signal.signal(signal.SIGTERM, _terminate)


def _write_every_character() -> None:
    r"""Write a character that the encoding lacks as `\u0141`, which JSON reads back as that character."""
    codecs.register_error("vetl", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="vetl")
    if isinstance(sys.stdin, TextIOWrapper) and codecs.lookup(sys.stdin.encoding).name == "ascii":
        sys.stdin.reconfigure(encoding="utf-8")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)), error.end


def _terminate(number: int, _frame: object) -> None:
    """Raise SIGINT, because asyncio, DuckDB and subprocesses end in order on Ctrl-C."""
    # A process that a shell starts in the background ignores SIGINT; SIGTERM must end it all the same.
    _terminated.append(number)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def is_terminated() -> bool:
    """Return whether SIGTERM has arrived."""
    return bool(_terminated)


def is_of_interrupt(error: BaseException) -> bool:
    """Return whether a signal caused this error.

    DuckDB raises an error of its own if a signal arrives during a statement, and clean-up code may fail because
    the signal interrupted it.
    """
    if _terminated:
        return True
    visited: list[BaseException] = []
    cause: BaseException | None = error
    while cause and cause not in visited:
        if isinstance(cause, KeyboardInterrupt) or type(cause).__name__ == "InterruptException":
            return True
        visited.append(cause)
        cause = cause.__cause__ or cause.__context__
    return False


def of_interrupt(command: Sequence[str]) -> tuple[str, int]:
    """Return the message and the exit code for a command, by its words, that a signal ended."""
    why, code = ("terminated", TERMINATED) if _terminated else ("interrupted", INTERRUPTED)
    saves = not WRITING.isdisjoint(command[:1])
    return f"{why}. Progress saved; run again to continue" if saves else why, code


def no_room(error: Exception) -> str | None:
    """Return a line that names the file if the disk is full; return `None` for any other error."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        reason = os.strerror(error.errno)
        return f"{error.filename}: {reason}{MAKE_ROOM}" if error.filename else f"standard output: {reason}"
    return None


def flush() -> str | None:
    """Flush standard output. Return one line if the disk is full, because Python would print a traceback."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - `_failed` sets it to `None`
        return None
    try:
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return no_room(error)
    return None
