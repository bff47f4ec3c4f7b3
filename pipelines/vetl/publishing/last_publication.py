"""Read the record of the last publication in the notes beside the private file, without DuckDB."""

from dataclasses import dataclass
from pathlib import Path

from vetl.core.errors import WarehouseError
from vetl.store.notes import read_note


@dataclass(frozen=True, slots=True)
class PublicationRecord:
    """The last publication. `file` is the identity of its file: inode, bytes and time of change in nanoseconds.

    `salt` is the salt of masked words, `masked_words` the number of different values that were masked, by column.
    """

    build_id: str
    masking: str
    salt: str
    masked_words: dict[str, int]
    file: tuple[int, int, int]


def read_record(private: Path) -> PublicationRecord | None:
    """Return the record; `None` if it is missing or cannot be read."""
    try:
        document = read_note(private, "publication")
        return PublicationRecord(
            document["build_id"],
            document["masking"],
            document["salt"],
            dict(document["masked_words"]),
            tuple(document["file"]),
        )
    except (WarehouseError, ValueError, KeyError, TypeError):
        return None


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
