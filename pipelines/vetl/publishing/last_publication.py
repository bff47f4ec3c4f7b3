"""Read the record of the last publication in the notes beside the private file, without DuckDB.

Hold a rollback: no publication replaces the earlier file until `vetl publish --release`.
"""

from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from vetl.core.errors import WarehouseError, cannot_write
from vetl.core.text import utc_seconds
from vetl.store.notes import notes_file, read_note, write_note


@dataclass(frozen=True, slots=True)
class PublicationRecord:
    """The last publication. `file` is the identity of its file: inode, bytes and time of change in nanoseconds.

    `build_id` is empty if the build was not complete. `masking` is a digest of the masking, `salt` the salt of
    masked words, `masked_words` the number of different values that were masked, by column.
    """

    build_id: str
    masking: str
    salt: str
    masked_words: dict[str, int]
    file: tuple[int, int, int] = (0, 0, 0)


_RECORD = TypeAdapter(PublicationRecord)


def read_record(private: Path) -> PublicationRecord | None:
    """Return the record; `None` if it is missing or cannot be read."""
    try:
        return _RECORD.validate_python(read_note(private, "publication"))
    except (WarehouseError, ValueError):
        return None


def write_record(private: Path, record: PublicationRecord, published: Path) -> None:
    """Record a publication with the identity of its file."""
    file = identity_of(published)
    write_note(private, "publication", asdict(replace(record, file=file)) if file else None)


def masked_in(private: Path, published: Path) -> dict[str, int] | None:
    """Return how many different values are masked in each column of words; `None` if it is another file."""
    record = read_record(private)
    return record.masked_words if record and record.file == identity_of(published) else None


def identity_of(published: Path) -> tuple[int, int, int] | None:
    """Return inode, bytes and time of change of a file; `None` if there is none."""
    try:
        stat = published.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


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
    held = Hold(utc_seconds(datetime.now(UTC)), utc_seconds(made))
    write_note(private, "rollback", asdict(held))
    return held


def release(private: Path) -> bool:
    """Let publications go on; return whether a rollback held them."""
    held = read_note(private, "rollback") is not None
    if held:
        write_note(private, "rollback", None)
    return held
