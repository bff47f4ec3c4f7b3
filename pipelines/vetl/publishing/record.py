"""Record in the notes which build was published, so that the same build is not published twice.

A publication brings nothing if the published file shows the last build, is the same file that was written then,
and masks the same columns with the same key.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import duckdb

from vetl.publishing.last_publication import PublicationRecord, identity_of
from vetl.publishing.marts import Masking
from vetl.store.notes import write_note

_SCHEME = 3
"""The version of the masking: since 3, a word is shown if enough people share it, whatever its letters."""


def last_build(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return the last build in the private file; `None` if it was not complete."""
    try:
        rows = connection.execute("select build_id from control.builds where is_complete").fetchall()
    except duckdb.CatalogException:
        return None
    return rows[0][0] if len(rows) == 1 else None


def is_published(record: PublicationRecord | None, build: str | None, masking: Masking, published: Path) -> bool:
    """Return whether the published file shows this build with this masking."""
    return (
        record is not None
        and record.build_id == build
        and record.file == identity_of(published)
        and record.masking == _digest(masking)
    )


def write_record(
    private: Path, build: str | None, masking: Masking, published: Path, masked_words: Mapping[str, int]
) -> None:
    """Record a publication."""
    file = identity_of(published)
    if build is None or file is None:
        write_note(private, "publication", None)
        return
    record = PublicationRecord(build, _digest(masking), masking.salt, dict(masked_words), file)
    write_note(private, "publication", asdict(record))


def _digest(masking: Masking) -> str:
    """Return a digest that differs between maskings and does not reveal the key."""
    text = json.dumps([_SCHEME, masking.columns, masking.key is not None, asdict(masking.shared)], sort_keys=True)
    return hashlib.scrypt(text.encode(), salt=(masking.key or "").encode(), n=2**14, r=8, p=1, dklen=16).hex()
