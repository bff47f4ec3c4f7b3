"""The last sync, build and publication, and how each ended: `vetl status` reads it in the file of the lock.

The file of the lock (`store/writer_lock.py`) has a place of its own for each kind of work. A record names the
holder of the lock who wrote it. A record without an end whose holder no longer has the lock is that of a killed
process. A process id would not do, because ids are used again and each container counts its own.

The places are overwritten as they are, so that a failure can be recorded on a full disk, which has no room for the
log of a database.
"""

import json
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from vetl.core.errors import VetlError
from vetl.core.text import utc_seconds
from vetl.store.writer_lock import HEADER, SIZE, holder_of, is_held_by, lock_file

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
    if not warehouse.exists():
        yield recorder
        return
    before, _ = _read(warehouse, kind)
    activity = Activity(command=command, started_at=_now(), succeeded_at=before.succeeded_at if before else None)
    if holder := holder_of(warehouse):
        _write(warehouse, kind, activity, holder)
    outcome: Outcome = "stopped"
    try:
        yield recorder
        outcome = "failed" if recorder.error else "done"
    except Exception as error:
        outcome, recorder.error = "failed", _reason(error)
        raise
    finally:
        ended = replace(activity, outcome=outcome, finished_at=_now(), error=recorder.error)
        _write(warehouse, kind, replace(ended, succeeded_at=_now()) if outcome == "done" else ended, holder)


def record_failure(warehouse: Path, kind: Kind, command: str, error: str) -> None:
    """Record work that could not begin."""
    with recorded(warehouse, kind, command) as recorder:
        recorder.error = error


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


def _reason(error: Exception) -> str:
    """Return the message of an error; only its class if it is unexpected, because its message may quote a row."""
    if isinstance(error, VetlError):
        return str(error)
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror}"
    return f"internal error: {type(error).__name__}"


def _now() -> str:
    return utc_seconds(datetime.now(UTC))
