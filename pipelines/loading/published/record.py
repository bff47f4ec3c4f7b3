"""Record beside the private file which build was published, so that the next publication copies only changes.

The changes of the last build suffice only if the published file shows the build before it, is the same file that
was written then, and masks the same columns with the same key. If any of this is uncertain, the marts are copied
whole.
"""

import hashlib
import json
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import duckdb

from pipelines.drafts import replace_text
from pipelines.loading.published.marts import Masking

_SCHEME = 2
"""The version of the masking: since 2, hashes are by practice and column, and words are learnt."""

_LARGER = 2
"""The growth since the last whole copy after which the file has more gaps than rows."""


@dataclass(frozen=True, slots=True)
class Build:
    """A build of all marts; `previous` is the build whose marts it updated, `None` if it made them in full."""

    build_id: str
    previous: str | None


@dataclass(frozen=True, slots=True)
class PublicationRecord:
    """The last publication. `file` is the identity of its file: inode, bytes and time of change in nanoseconds.

    `salt` is the salt of masked words, `words` are the learnt words that were shown. `masked_words` is the number
    of different values that were masked in columns of words.
    """

    build_id: str
    masking: str
    whole_bytes: int
    salt: str
    words: tuple[str, ...]
    masked_words: int
    file: tuple[int, int, int]


def last_build(connection: duckdb.DuckDBPyConnection) -> Build | None:
    """Return the last build in the attached private file (`source`); `None` if it was not complete."""
    try:
        rows = connection.execute(
            "select build_id, previous_id from source.control.builds where is_complete and build_id is not null"
        ).fetchall()
    except duckdb.CatalogException:
        return None
    return Build(*rows[0]) if len(rows) == 1 else None


def how_to_publish(
    record: PublicationRecord | None, build: Build | None, masking: Masking, published: Path
) -> Literal["whole", "changes", "nothing"]:
    """Return whether the marts must be copied whole, by their changes, or not at all."""
    if (
        record is None
        or build is None
        or _identity(published) != record.file
        or _digest(masking) != record.masking
    ):
        return "whole"
    if record.build_id == build.build_id:
        return "nothing"
    is_next = record.build_id == build.previous and record.file[1] <= _LARGER * record.whole_bytes
    return "changes" if is_next else "whole"


def read_record(private: Path) -> PublicationRecord | None:
    """Read the record beside the private file; return `None` if it is missing or cannot be parsed."""
    try:
        document = json.loads(_path(private).read_text("utf-8"))
        return PublicationRecord(
            *(document["build_id"], document["masking"], document["whole_bytes"], document["salt"]),
            *(tuple(document["words"]), document["masked_words"], tuple(document["file"])),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def masked_in(private: Path, published: Path) -> int | None:
    """Return how many different values of words are masked in the published file; `None` if it is another file."""
    record = read_record(private)
    return record.masked_words if record and record.file == _identity(published) else None


def write_record(
    private: Path,
    build: Build | None,
    masking: Masking,
    published: Path,
    whole_bytes: int | None,
    words: Collection[str] = (),
    masked_words: int = 0,
) -> None:
    """Record a publication. `whole_bytes`: the file's size at the last whole copy; `None` for a whole copy."""
    file = _identity(published)
    if build is None or file is None:
        _path(private).unlink(missing_ok=True)
        return
    record = PublicationRecord(
        *(build.build_id, _digest(masking), whole_bytes or file[1], masking.salt),
        *(tuple(sorted(words)), masked_words, file),
    )
    replace_text(_path(private), json.dumps(asdict(record)))


def _path(private: Path) -> Path:
    return private.with_name(f"{private.name}.published.json")


def _identity(published: Path) -> tuple[int, int, int] | None:
    try:
        stat = published.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _digest(masking: Masking) -> str:
    """Return a digest that differs between maskings and does not reveal the key."""
    text = json.dumps([_SCHEME, masking.columns, masking.key is not None], sort_keys=True)
    return hashlib.scrypt(text.encode(), salt=(masking.key or "").encode(), n=2**14, r=8, p=1, dklen=16).hex()
