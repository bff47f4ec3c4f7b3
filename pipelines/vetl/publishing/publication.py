"""Publish the marts to the analysts' file: masked, and replaced in one rename.

A build that loses most rows of a mart does not replace the published file. The notes have which build was
published: a publication brings nothing if the published file shows the last build, is the same file that was
written then, and masks the same columns with the same key.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from secrets import token_hex

import duckdb

from vetl.core.errors import WarehouseError
from vetl.core.published_file import DIGESTS, SCHEMAS, SharedWords, Treatments, is_weak_key, schema_of
from vetl.publishing import digests
from vetl.publishing.last_publication import PublicationRecord, identity_of, read_record, write_record
from vetl.publishing.marts import SHOWN, Columns, Masking, copy_comments, copy_mart, count, marts_of, masked_words
from vetl.publishing.replacing import attach_target, replaced
from vetl.publishing.shown_words import shown_words
from vetl.store.connection import Connection, attach_private, literal, memory_for_marts
from vetl.store.tables import refuse_newer

_SCHEME = 3
"""The version of the masking: since 3, a word is shown if enough people share it, whatever its letters."""


def last_build(connection: Connection) -> str | None:
    """Return the last build in the private file; `None` if it was not complete."""
    try:
        rows = connection.execute("select build_id from control.builds where is_complete").fetchall()
    except duckdb.CatalogException:
        return None
    return rows[0][0] if len(rows) == 1 else None


def _digest(masking: Masking) -> str:
    """Return a digest that differs between maskings and does not reveal the key."""
    text = json.dumps([_SCHEME, masking.columns, masking.key is not None, asdict(masking.shared)], sort_keys=True)
    return hashlib.scrypt(text.encode(), salt=(masking.key or "").encode(), n=2**14, r=8, p=1, dklen=16).hex()


_FEW = 20
"""A mart with fewer rows may lose them all in an ordinary hour."""

_SHRINKING = frozenset({"calls_forecast", "call_back_list", "unknown_values", "unbooked_requests"})
"""Marts whose rows go when somebody works through them, or the source mends a value."""


def rows_of(connection: Connection, file: Path) -> dict[str, int]:
    """Return the number of rows of each mart in a published file, or none if there is no file."""
    if not file.exists() or not file.stat().st_size:
        return {}
    connection.execute(f"attach {literal(str(file))} as before (read_only)")
    rows = {name: count(connection, "before", name) for name in marts_of(connection, "before") if name != DIGESTS}
    connection.execute("detach before")
    return rows


def refuse_lost_rows(before: Mapping[str, int], now: Mapping[str, int], published: Path) -> None:
    """Compare the numbers of rows by mart."""
    lost = [
        name
        for name in sorted(before.keys() & now.keys() - _SHRINKING)
        if before[name] >= _FEW and now[name] < before[name] / 2
    ]
    if lost:
        name, more = lost[0], f" and {len(lost) - 1} more marts" if len(lost) > 1 else ""
        raise WarehouseError(
            f"{published}: stays as it was: {schema_of(name)}.{name}{more} lost most rows"
            f" ({before[name]:,} to {now[name]:,}); `vetl publish --accept-loss` publishes them so"
        )


_MODE = 0o644
"""The mode of a file that is published for the first time; its folder may restrict access further."""


@dataclass(frozen=True, slots=True)
class Published:
    """The result of a publication: rows by table, masked columns, and marts left out as unclassified.

    `clear`: columns with personal data that are published as they are, because `vetl.toml` says so.
    `weak_key`: the key of the hashes can be found by trying.
    `masked_words`: the number of different values that are masked in each column of words.
    """

    path: Path
    tables: Mapping[str, int]
    masked: tuple[str, ...]
    left_out: tuple[str, ...]
    masked_words: Mapping[str, int] = field(default_factory=dict[str, int])
    clear: tuple[str, ...] = ()
    weak_key: bool = False


def publish(  # noqa: PLR0913 - the settings of a publication
    private: Path,
    published: Path,
    *,
    pii: Treatments,
    pii_key: str | None,
    shared: SharedWords = SharedWords(),  # noqa: B008 - it is frozen
    keep: int = 1,
    accept_loss: bool = False,
    limits: Mapping[str, str] | None = None,
) -> Published:
    """Copy the marts of the private file into a new file, check it, and replace the published file by it.

    `pii` has the treatment of the personal columns of every mart; without a key a hash is null. Readers who have
    the old file open go on reading it. On failure the old file stays and drafts are removed. The last `keep` files
    stay, with the new one (replacing.py). `accept_loss`: publish also if a mart has lost most of its rows. The
    `limits` are DuckDB's `memory_limit` and `temp_directory` if they are configured.
    """
    published = published.resolve()
    if published.exists() and private.exists() and published.samefile(private):
        raise WarehouseError(f"{published}: is the private file; warehouse.published must be another")
    masking = Masking(pii, pii_key, shared=shared)
    with replaced(published, *SCHEMAS, first=_MODE, keep=keep, failed="cannot be published") as draft:
        result, record = _publish(private, published, draft, masking, limits or {}, accept_loss=accept_loss)
    if record:
        with suppress(WarehouseError):  # without a record the next publication writes the same file again
            write_record(private, record, published)
    return result


def _publish(
    private: Path,
    published: Path,
    draft: Path,
    masking: Masking,
    limits: Mapping[str, str],
    *,
    accept_loss: bool,
) -> tuple[Published, PublicationRecord | None]:
    """Write the draft, and return the record of the publication; neither if the file would be the same."""
    record, file = read_record(private), identity_of(published)
    masking = replace(masking, salt=record.salt if record else token_hex(16))
    # Rows that DuckDB spills are not masked yet, so they are spilled beside the private file.
    usual = {"temp_directory": f"{private}.tmp", "memory_limit": memory_for_marts()}
    with closing(duckdb.connect(config={**usual, **limits})) as connection:
        attach_private(connection, private)
        refuse_newer(connection)
        there = marts_of(connection)
        marts = {name: columns for name, columns in there.items() if name in masking.columns}
        if not marts:
            raise WarehouseError(f"{private}: there is no mart to publish; run `vetl build`")
        result = Published(
            published,
            {},
            masking.columns_with(marts, {"null", "hash"}),
            tuple(sorted(there.keys() - marts.keys())),
            clear=masking.columns_with(marts, {"clear"}),
            weak_key=masking.key is not None and is_weak_key(masking.key),
        )
        build, digest = last_build(connection), _digest(masking)
        if record and build and (record.build_id, record.masking, record.file) == (build, digest, file):
            tables = rows_of(connection, published)
            return replace(result, tables=tables, masked_words=record.masked_words), None
        words = sorted(shown_words(connection, marts, masking))
        connection.execute(f"create temp table {SHOWN} as select unnest($words) as word", {"words": words})
        attach_target(connection, draft, *SCHEMAS)
        _bring(connection, marts, masking)
        digests.digest_inputs(connection)
        tables = {name: count(connection, "target", name) for name in marts}
        result = replace(result, tables=tables, masked_words=masked_words(connection))
        connection.execute("detach target")
        if not accept_loss:
            refuse_lost_rows(rows_of(connection, published), result.tables, published)
    _check(draft, result)
    return result, PublicationRecord(build or "", digest, masking.salt, dict(result.masked_words))


def _bring(connection: Connection, marts: Mapping[str, Columns], masking: Masking) -> None:
    """Fill the empty target with these marts."""
    digests.begin(connection)
    for name, columns in marts.items():
        there = copy_mart(connection, name, columns, masking, with_names="name" in marts.get("practices", ()))
        digests.digest_whole(connection, name, there)
    copy_comments(connection, marts)


def _check(draft: Path, result: Published) -> None:
    """Open the new file again and compare its numbers of rows."""
    with closing(duckdb.connect()) as connection:
        tables = rows_of(connection, draft)
    if tables != result.tables:
        raise WarehouseError(f"{result.path}: the new file does not hold what was written; the old one stays")
