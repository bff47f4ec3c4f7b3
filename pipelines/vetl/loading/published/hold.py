"""Hold a rollback: no publication replaces the earlier file until `vetl publish --release`."""

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from vetl.core.errors import WarehouseError, cannot_write


@dataclass(frozen=True, slots=True)
class Hold:
    """A rollback that was not released; instants are ISO 8601.

    `since`: the time of the rollback. `published_at`: the time when the current file was first published.
    """

    since: str
    published_at: str


def read_hold(private: Path) -> Hold | None:
    """Return the rollback that holds the published file; `None` if publications go on.

    Raises:
        WarehouseError: the record of the rollback cannot be read.
    """
    file = _path(private)
    try:
        return Hold(**json.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        remedy = "`vetl publish --release` removes it and publishes"
        raise WarehouseError(f"{file}: cannot be read; it keeps a rollback in place; {remedy}") from None


def hold(private: Path, published: Path) -> Hold:
    """Hold the published file as it is now.

    Raises:
        WarehouseError: the record cannot be written.
    """
    file = _path(private)
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        made = datetime.fromtimestamp(published.stat().st_mtime, UTC)
        hold = Hold(_iso(datetime.now(UTC)), _iso(made))
        draft.write_text(json.dumps(asdict(hold)), "utf-8")
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise WarehouseError(cannot_write(file, error)) from None
    return hold


def release(private: Path) -> bool:
    """Let publications go on; return whether a rollback held them."""
    file = _path(private)
    there = file.exists()
    file.unlink(missing_ok=True)
    return there


def _path(private: Path) -> Path:
    return private.with_name(f"{private.name}.rolled_back.json")


def _iso(instant: datetime) -> str:
    return instant.isoformat(timespec="seconds").replace("+00:00", "Z")
