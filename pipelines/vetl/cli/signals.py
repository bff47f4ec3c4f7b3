"""Ctrl-C and SIGTERM: each ends a command in order, whatever exception the library at work makes of it."""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress

INTERRUPTED = 130
TERMINATED = 143

_arrived: set[int] = set()
_pipe: list[int] = []
"""Its ends, to read and to write. Python writes the number of each signal before it calls the handler."""


def heed() -> None:
    """Handle SIGTERM as Ctrl-C, and note both."""
    signal.signal(signal.SIGTERM, _terminate)
    _pipe[:] = os.pipe()
    for end in _pipe:
        os.set_blocking(end, False)
    signal.set_wakeup_fd(_pipe[1], warn_on_full_buffer=False)


def _terminate(_number: int, _frame: object) -> None:
    """Raise SIGINT, because asyncio, DuckDB and subprocesses end in order on Ctrl-C."""
    # A process that a shell starts in the background ignores SIGINT; SIGTERM must end it all the same.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)


def is_terminated() -> bool:
    """Return whether SIGTERM has arrived."""
    return signal.SIGTERM in _noted()


def is_interrupted() -> bool:
    """Return whether Ctrl-C or SIGTERM has arrived.

    An error after it is not told apart from one that the signal caused: DuckDB and pydantic raise errors of their
    own, and clean-up code may fail because the signal interrupted it.
    """
    return bool(_noted())


def forget() -> None:
    """Forget the signals so far: a prompt continues after Ctrl-C."""
    _noted().clear()


def _noted() -> set[int]:
    with suppress(BlockingIOError, IndexError):
        _arrived.update({signal.SIGINT, signal.SIGTERM} & set(os.read(_pipe[0], 4096)))
    return _arrived


@contextmanager
def waiting() -> Generator[None]:
    """Let signals wait: an import of pydantic or DuckDB loses them, or ends the process."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
