"""Hold a rollback: no publication replaces the earlier file until `vetl publish --release`."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from vetl.core.errors import WarehouseError, cannot_write
from vetl.store.notes import notes_file, read_note, write_note


@dataclass(frozen=True, slots=True)
class Hold:
    """A rollback that was not released; instants are ISO 8601.

    `since`: the time of the rollback. `published_at`: the time when the current file was first published.
    """

    since: str
    published_at: str


def read_hold(private: Path) -> Hold | None:
    """Return the rollback that holds the published file; `None` if publications go on."""
    note = read_note(private, "rollback")
    try:
        return None if note is None else Hold(**note)
    except TypeError:
        remedy = "`vetl publish --release` removes it and publishes"
        file = notes_file(private)
        raise WarehouseError(f"{file}: the rollback cannot be read; it stays in place; {remedy}") from None


def hold(private: Path, published: Path) -> Hold:
    """Hold the published file as it is now."""
    try:
        made = datetime.fromtimestamp(published.stat().st_mtime, UTC)
    except OSError as error:
        raise WarehouseError(cannot_write(published, error)) from None
    held = Hold(_iso(datetime.now(UTC)), _iso(made))
    write_note(private, "rollback", asdict(held))
    return held


def release(private: Path) -> bool:
    """Let publications go on; return whether a rollback held them."""
    held = read_note(private, "rollback") is not None
    if held:
        write_note(private, "rollback", None)
    return held


def _iso(instant: datetime) -> str:
    return instant.isoformat(timespec="seconds").replace("+00:00", "Z")
