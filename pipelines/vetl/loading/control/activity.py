"""The last sync, build and publication, and how each ended: `vetl status` reads it beside the warehouse.

There is one file for each kind of work. The process at work holds a lock (`flock`) on it, which the kernel
releases when the process ends, however it ends: a record without an end whose lock is free is that of a killed
process. A process id would not do, because ids are used again and each container counts its own.

A file is 4 KiB long from the first record on and is overwritten in place, so that a failure can be recorded on a
full disk.
"""

import fcntl
import json
import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from vetl.core.errors import VetlError

Kind = Literal["sync", "build", "publication"]
Outcome = Literal["running", "done", "failed", "stopped", "killed"]

_BYTES = 4_096
_PATIENCE = 1.0
"""Seconds that a process at work waits for the lock: a reader holds it for an instant, another writer for long."""
_LOOK_AGAIN = 0.02


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


def activity_path(warehouse: Path, kind: Kind) -> Path:
    """Return the path of the record beside the warehouse."""
    return warehouse.with_name(f"{warehouse.name}.last_{kind}.json")


def read_activity(warehouse: Path, kind: Kind) -> Activity | None:
    """Return the last work of this kind; `None` before the first."""
    try:
        with activity_path(warehouse, kind).open("rb") as file:
            activity = _parse(file.read(_BYTES))
            if activity and activity.outcome == "running" and not _is_held(file.fileno()):
                # The process may have recorded its end between the read and the check of the lock.
                activity = _parse(os.pread(file.fileno(), _BYTES, 0)) or activity
                return replace(activity, outcome="killed") if activity.outcome == "running" else activity
            return activity
    except OSError:
        return None


@contextmanager
def recorded(warehouse: Path, kind: Kind, command: str) -> Generator[Recorder]:
    """Record the beginning and the outcome of work. The work goes on if the record cannot be written."""
    recorder = Recorder()
    handle = _open(activity_path(warehouse, kind)) if warehouse.exists() else None
    if handle is None:
        yield recorder
        return
    before = _parse(os.pread(handle, _BYTES, 0))
    activity = Activity(command=command, started_at=_now(), succeeded_at=before.succeeded_at if before else None)
    is_locked = _lock(handle, _PATIENCE)
    outcome: Outcome = "stopped"
    try:
        if is_locked:
            _write_activity(handle, activity)
        yield recorder
        outcome = "failed" if recorder.error else "done"
    except Exception as error:
        outcome, recorder.error = "failed", _reason(error)
        raise
    finally:
        # The process that held the record at the beginning may have ended by now.
        if is_locked or _lock(handle, 0.0):
            ended = replace(activity, outcome=outcome, finished_at=_now(), error=recorder.error)
            _write_activity(handle, replace(ended, succeeded_at=_now()) if outcome == "done" else ended)
        os.close(handle)


def record_failure(warehouse: Path, kind: Kind, command: str, error: str) -> None:
    """Record work that could not begin."""
    with recorded(warehouse, kind, command) as recorder:
        recorder.error = error


def _parse(content: bytes) -> Activity | None:
    try:
        return Activity(**json.loads(content))
    except (ValueError, TypeError):
        return None


def _open(path: Path) -> int | None:
    with suppress(OSError):
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    return None


def _write_activity(handle: int, activity: Activity) -> None:
    content = json.dumps(asdict(activity), ensure_ascii=False).encode()
    if len(content) > _BYTES:
        content = json.dumps(asdict(replace(activity, error="the error is too long to keep"))).encode()
    with suppress(OSError):
        os.pwrite(handle, content.ljust(_BYTES), 0)


def _lock(handle: int, patience: float) -> bool:
    """Take the lock; `False` if another process keeps it for longer. Some file systems have no locks: `True`."""
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_LOOK_AGAIN)
        except OSError:
            return True
        else:
            return True


def _is_held(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    fcntl.flock(handle, fcntl.LOCK_UN)
    return False


def _reason(error: Exception) -> str:
    """Return the message of an error; only its class if it is unexpected, because its message may quote a row."""
    if isinstance(error, VetlError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror}"
    return f"internal error: {type(error).__name__}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
