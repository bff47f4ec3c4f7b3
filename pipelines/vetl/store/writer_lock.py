"""The lock of a warehouse: the commands that write take turns, from the first shared file to the last.

DuckDB locks a file as long as it is open. That is too little: a command opens the private file several times, and
other files are shared too (the published file, dbt's state, the lake). Two `vetl run` at once removed each other's
results of dbt.

The lock is an flock on `<warehouse>.lock`. The kernel frees it when the last process that has the file open ends,
however that process ends. The file begins with the process id of the holder and with a word of its own, by which
the records of the holder behind it are recognised. It stays when the lock is free.
Commands that only read never take the lock.

Behind the header the file has a place for the last work of each kind: sync, build and publication, and how each
ended. `vetl status` reads them. A record names the holder of the lock who wrote it. A record without an end whose
holder no longer has the lock is that of a killed process. A process id would not do, because ids are used again
and each container counts its own. The places are overwritten as they are, so that a failure can be recorded on a
full disk, which has no room for the log of a database.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from threading import local
from typing import Any, Literal

import structlog

from vetl.core.errors import WarehouseBusy, WarehouseError, cannot_write, reason_of
from vetl.core.text import span, utc_seconds

SIZE = 4_096
"""The bytes of the file. They are there from the first holder on, so that a full disk has room for records."""

HEADER = 256
"""The bytes for the holder at the beginning of the file."""

_LOOK_AGAIN_SECONDS = 0.25
_INSTANT = 0.01
"""The pause before another attempt, because who reads a record may have the lock for an instant (`is_held_by`)."""

_log = structlog.stdlib.get_logger("vetl.store")


class _Held(local):
    """The locks of this thread by their paths: the open file, and the word of the holder."""

    def __init__(self) -> None:
        self.locks: dict[Path, tuple[int, str]] = {}


_held = _Held()


@contextmanager
def writing(
    warehouse: Path, *, lock_wait_seconds: float, wait: Callable[[float], None] = time.sleep
) -> Generator[None]:
    """Hold the lock of the warehouse. Within a block that holds it already, another one changes nothing."""
    file = lock_file(warehouse)
    if file in _held.locks:
        yield
        return
    descriptor = _open(file)
    try:
        _take(descriptor, warehouse, lock_wait_seconds, wait)
        word = token_hex(8)
        _held.locks[file] = descriptor, word
        _write_holder(descriptor, word)
        yield
    finally:
        _held.locks.pop(file, None)
        os.close(descriptor)


def held_descriptors() -> tuple[int, ...]:
    """Return the open files of the locks that this thread holds.

    A child process that inherits them keeps the locks as long as it works, also after its parent was killed.
    """
    return tuple(descriptor for descriptor, _ in _held.locks.values())


def is_held_by(warehouse: Path, word: str | None) -> bool:
    """Return whether the holder with this word still has the lock, or a child process that inherited it."""
    try:
        descriptor = os.open(lock_file(warehouse), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return word is not None and _header(descriptor)[1:2] == [word]
    except OSError:
        return True  # this file system has no locks
    else:
        return False
    finally:
        os.close(descriptor)


def lock_file(warehouse: Path) -> Path:
    """Return the path of the file of the lock."""
    warehouse = warehouse.resolve()
    return warehouse.with_name(f"{warehouse.name}.lock")


def _open(file: Path) -> int:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise WarehouseError(cannot_write(file, error, "cannot be made")) from None


def _take(descriptor: int, warehouse: Path, lock_wait_seconds: float, wait: Callable[[float], None]) -> None:
    waited = 0.0
    while not _is_taken(descriptor, warehouse):
        header = _header(descriptor)
        holder = f"another vetl (PID {header[0]})" if header and header[0].isdigit() else "another vetl"
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


def _is_taken(descriptor: int, warehouse: Path) -> bool:
    for pause in (_INSTANT, _INSTANT, 0.0):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(pause)
        except OSError as error:
            raise WarehouseError(f"{warehouse}: its lock cannot be taken: {error.strerror}") from None
        else:
            return True
    return False


def _write_holder(descriptor: int, word: str) -> None:
    with suppress(OSError):  # on a full disk others wait for "another vetl" without its process id
        os.pwrite(descriptor, f"{os.getpid()} {word}".encode().ljust(HEADER), 0)
        if (missing := SIZE - os.fstat(descriptor).st_size) > 0:
            os.pwrite(descriptor, b" " * missing, SIZE - missing)


def _header(descriptor: int) -> list[str]:
    return os.pread(descriptor, HEADER, 0).decode("ascii", "replace").split()


def restore_mark(warehouse: Path) -> Path:
    """Return the path of the file that is there from the first to the last file that a restore replaces."""
    return warehouse.with_name(f"{warehouse.name}.restoring")


def unfinished_restore(warehouse: Path) -> str | None:
    """Return the line about a restore that did not end; `None` if there is none."""
    mark = restore_mark(warehouse)
    if not mark.exists():
        return None
    return f"{warehouse}: `vetl restore` did not end: run it again with the folder that {mark} names"


Kind = Literal["sync", "build", "publication"]
Outcome = Literal["running", "done", "failed", "stopped", "killed"]

_PLACE = (SIZE - HEADER) // 3
_STARTS: dict[Kind, int] = {"sync": HEADER, "build": HEADER + _PLACE, "publication": HEADER + 2 * _PLACE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """The last sync, build or publication; instants are ISO 8601 by this machine's clock.

    `outcome`: `stopped` after Ctrl-C or SIGTERM, `killed` if the process ended without recording it.
    `succeeded_at`: when the last one succeeded, which may be an earlier one.
    """

    command: str
    started_at: str
    finished_at: str | None = None
    outcome: Outcome = "running"
    error: str | None = None
    succeeded_at: str | None = None

    @property
    def at(self) -> str:
        """Return the time of its end, or of its beginning if it has not ended."""
        return self.finished_at or self.started_at


@dataclass(slots=True)
class Recorder:
    """The record of the work that this process does now. Set `error` if the work fails without raising."""

    error: str | None = None


def read_activity(warehouse: Path, kind: Kind) -> Activity | None:
    """Return the last work of this kind; `None` before the first."""
    activity, holder = _read(warehouse, kind)
    if activity and activity.outcome == "running" and not is_held_by(warehouse, holder):
        # The process may have recorded its end between the read and the check of the lock.
        activity = _read(warehouse, kind)[0] or activity
        return replace(activity, outcome="killed") if activity.outcome == "running" else activity
    return activity


@contextmanager
def recorded(warehouse: Path, kind: Kind, command: str) -> Generator[Recorder]:
    """Record the beginning and the outcome of work. The work goes on if the record cannot be written.

    Without the lock of the warehouse only the outcome is recorded.
    """
    recorder = Recorder()
    before, _ = _read(warehouse, kind)
    activity = Activity(command=command, started_at=_now(), succeeded_at=before.succeeded_at if before else None)
    _, holder = _held.locks.get(lock_file(warehouse), (None, None))
    if holder:
        _write(warehouse, kind, activity, holder)
    outcome: Outcome = "stopped"
    try:
        yield recorder
        outcome = "failed" if recorder.error else "done"
    except Exception as error:
        outcome, recorder.error = "failed", reason_of(error)
        raise
    finally:
        ended = replace(activity, outcome=outcome, finished_at=_now(), error=recorder.error)
        _write(warehouse, kind, replace(ended, succeeded_at=_now()) if outcome == "done" else ended, holder)


def _read(warehouse: Path, kind: Kind) -> tuple[Activity | None, str | None]:
    """Return the record and the holder of the lock who wrote it."""
    try:
        with lock_file(warehouse).open("rb") as file:
            document: dict[str, Any] = json.loads(os.pread(file.fileno(), _PLACE, _STARTS[kind]))
        holder = document.pop("holder")
        return Activity(**document), holder
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None, None


def _write(warehouse: Path, kind: Kind, activity: Activity, holder: str | None) -> None:
    content, error = _as_bytes(activity, holder), activity.error or ""
    while len(content) > _PLACE and error:
        error = error[: len(error) - max(1, len(content) - _PLACE) // 4 - 1]
        content = _as_bytes(replace(activity, error=f"{error}…"), holder)
    with suppress(OSError):
        handle = os.open(lock_file(warehouse), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.pwrite(handle, content.ljust(_PLACE), _STARTS[kind])
        finally:
            os.close(handle)


def _as_bytes(activity: Activity, holder: str | None) -> bytes:
    return json.dumps({**asdict(activity), "holder": holder}, ensure_ascii=False).encode()


def _now() -> str:
    return utc_seconds(datetime.now(UTC))
