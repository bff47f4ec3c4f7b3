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

from vetl.drafts import replace_text
from vetl.loading.published.last_publication import PublicationRecord, identity_of, record_path
from vetl.loading.published.marts import Masking

_SCHEME = 2
"""The version of the masking: since 2, hashes are by practice and column, and words are learnt."""

_LARGER = 2
"""The growth since the last whole copy after which the file has more gaps than rows."""


@dataclass(frozen=True, slots=True)
class Build:
    """A build of all marts; `previous` is the build whose marts it updated, `None` if it made them in full."""

    build_id: str
    previous: str | None


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
        or identity_of(published) != record.file
        or _digest(masking) != record.masking
    ):
        return "whole"
    if record.build_id == build.build_id:
        return "nothing"
    is_next = record.build_id == build.previous and record.file[1] <= _LARGER * record.whole_bytes
    return "changes" if is_next else "whole"


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
    file = identity_of(published)
    if build is None or file is None:
        record_path(private).unlink(missing_ok=True)
        return
    record = PublicationRecord(
        build.build_id,
        _digest(masking),
        whole_bytes or file[1],
        masking.salt,
        tuple(sorted(words)),
        masked_words,
        file,
    )
    replace_text(record_path(private), json.dumps(asdict(record)))


def _digest(masking: Masking) -> str:
    """Return a digest that differs between maskings and does not reveal the key."""
    text = json.dumps([_SCHEME, masking.columns, masking.key is not None], sort_keys=True)
    return hashlib.scrypt(text.encode(), salt=(masking.key or "").encode(), n=2**14, r=8, p=1, dklen=16).hex()
