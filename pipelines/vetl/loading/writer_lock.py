"""The lock of a warehouse: the commands that write take turns, from the first shared file to the last.

DuckDB locks a file as long as it is open. That is too little: a command opens the private file several times, and
other files are shared too (the published file, dbt's state, the lake). Two `vetl run` at once removed each other's
results of dbt.

The lock is an flock on `<warehouse>.lock`. The kernel frees it when the last process that has the file open ends,
however that process ends. The file holds the id of the process that has the lock, and stays when the lock is free.
Commands that only read never take the lock.
"""

import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import local

import structlog

from vetl.core.errors import WarehouseBusy, WarehouseError, cannot_write
from vetl.core.text import span

_LOOK_AGAIN_SECONDS = 0.25

_log = structlog.stdlib.get_logger("vetl.loading")


class _Held(local):
    """The locks of this thread: the open files by their paths."""

    def __init__(self) -> None:
        self.descriptors: dict[Path, int] = {}


_held = _Held()


@contextmanager
def writing(
    warehouse: Path,
    *,
    lock_wait_seconds: float,
    wait: Callable[[float], None] = time.sleep,
) -> Generator[None]:
    """Hold the lock of the warehouse. Within a block that holds it already, another one changes nothing.

    Raises:
        WarehouseBusy: another process still holds the lock after `lock_wait_seconds`.
        WarehouseError: the file of the lock cannot be made or locked.
    """
    file = _lock_file(warehouse)
    if file in _held.descriptors:
        yield
        return
    descriptor = _open(file)
    try:
        _take(descriptor, warehouse, lock_wait_seconds, wait)
        _held.descriptors[file] = descriptor
        try:
            yield
        finally:
            _held.descriptors.pop(file, None)
    finally:
        os.close(descriptor)


def held_descriptors() -> tuple[int, ...]:
    """Return the open files of the locks that this thread holds.

    A child process that inherits them keeps the locks as long as it works, also after its parent was killed.
    """
    return tuple(_held.descriptors.values())


def _lock_file(warehouse: Path) -> Path:
    warehouse = warehouse.resolve()
    return warehouse.with_name(f"{warehouse.name}.lock")


def _open(file: Path) -> int:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    except OSError as error:
        raise WarehouseError(cannot_write(file, error, "cannot be made")) from None


def _take(descriptor: int, warehouse: Path, lock_wait_seconds: float, wait: Callable[[float], None]) -> None:
    waited = 0.0
    while not _is_taken(descriptor, warehouse):
        holder = _holder(descriptor)
        if waited >= lock_wait_seconds:
            longest = span(lock_wait_seconds)
            raise WarehouseBusy(
                f"{warehouse}: {holder} is still writing to it after {longest} of waiting; try again later",
                holder=holder,
            )
        if waited == 0:
            _log.warning("another_vetl_writes", holder=holder, longest=span(lock_wait_seconds))
        pause = min(_LOOK_AGAIN_SECONDS, lock_wait_seconds - waited)
        wait(pause)
        waited += pause
    with suppress(OSError):  # on a full disk others wait for "another vetl" without its process id
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)


def _is_taken(descriptor: int, warehouse: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise WarehouseError(f"{warehouse}: its lock cannot be taken: {error.strerror}") from None
    return True


def _holder(descriptor: int) -> str:
    pid = os.pread(descriptor, 20, 0).decode("ascii", "replace")
    return f"another vetl (PID {pid})" if pid.isdigit() else "another vetl"
