"""Publish the marts to the analysts' file: masked, and replaced in one rename."""

import os
import shutil
import stat
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex

import duckdb

from vetl import bundled
from vetl.core.errors import WarehouseError, cannot_write
from vetl.core.privacy import Treatments
from vetl.core.secrets import is_weak_key
from vetl.drafts import draft_for
from vetl.loading.connection import literal
from vetl.loading.failures import as_warehouse_error
from vetl.loading.migrate import refuse_newer
from vetl.loading.published import digests
from vetl.loading.published.inputs import digest_inputs
from vetl.loading.published.last_publication import read_record
from vetl.loading.published.marts import (
    GONE,
    NEW,
    Columns,
    Masking,
    copy_changes,
    copy_comments,
    copy_whole,
    count,
    marts_of,
    masked_words,
    noted_marts,
)
from vetl.loading.published.ownership import refuse_foreign, set_mark
from vetl.loading.published.record import how_to_publish, last_build, write_record
from vetl.loading.published.retention import keep_before, remove_kept
from vetl.loading.published.words import Marts, learnt_words, publishable_words, still_hold

STORAGE_VERSION = "v1.0.0"
"""The storage version that BI tools with an older DuckDB can open."""

_PUBLISHED_MODE = 0o644
"""The mode of a file that is published for the first time; its folder may restrict access further."""


Grains = Mapping[str, tuple[str, ...]]
"""The columns that identify a row of a mart, by mart."""


@dataclass(frozen=True, slots=True)
class Published:
    """The result of a publication: rows by table, masked columns, and marts left out as unclassified.

    `clear`: columns with personal data that are published as they are, because `vetl.toml` says so.
    `weak_key`: the key of the hashes can be found by trying.
    `masked_words`: the number of different values that are masked in columns of words, as they may name a person.
    """

    path: Path
    tables: Mapping[str, int]
    masked: tuple[str, ...]
    left_out: tuple[str, ...]
    masked_words: int = 0
    clear: tuple[str, ...] = ()
    weak_key: bool = False


def publish(
    private: Path,
    published: Path,
    *,
    pii: Treatments,
    pii_key: str | None,
    grains: Grains | None = None,
    keep: int = 1,
    limits: Mapping[str, str] | None = None,
) -> Published:
    """Copy the marts of the private file into a new file, check it, and replace the published file by it.

    `pii` has the treatment of the personal columns of every mart; without a key a hash is null. If the published
    file shows the build before the last one, it is copied, and marts with a grain are updated by the changes of
    the last build. Readers who have the old file open go on reading it. On failure the old file stays and drafts
    are removed. The last `keep` files stay, with the new one (retention.py). `limits` are DuckDB's `memory_limit`
    and `temp_directory` if they differ from DuckDB's defaults.

    Raises:
        WarehouseBusy: another process writes to the private file.
        WarehouseError: there is nothing to publish, or a file cannot be read or written.
    """
    published = published.resolve()
    try:
        _refuse_what_is_not_published(private, published)
        with draft_for(published) as draft:
            return _publish(private, published, draft, Masking(pii, pii_key), grains or {}, keep, limits or {})
    except OSError as error:
        raise WarehouseError(cannot_write(published, error)) from None
    except duckdb.Error as error:
        raise as_warehouse_error(error, published, "cannot be published") from None


def _publish(
    private: Path,
    published: Path,
    draft: Path,
    masking: Masking,
    grains: Grains,
    keep: int,
    limits: Mapping[str, str],
) -> Published:
    record = read_record(private)
    masking = replace(masking, salt=record.salt if record else token_hex(16))
    # Rows that DuckDB spills are not masked yet, so they are spilled beside the private file.
    with closing(duckdb.connect(config={"temp_directory": f"{private}.tmp", **limits})) as connection:
        connection.execute(f"attach {literal(str(private))} as source (read_only)")
        refuse_newer(connection, "source", bundled.migrations())
        there = marts_of(connection, "source")
        marts = {name: columns for name, columns in there.items() if name in masking.columns}
        if not marts:
            raise WarehouseError(f"{private}: there is no mart to publish; run `vetl build`")
        result = Published(
            published,
            {name: count(connection, "source", name) for name in marts},
            masking.columns_with(marts, {"null", "hash"}),
            tuple(sorted(there.keys() - marts.keys())),
            clear=masking.columns_with(marts, {"clear"}),
            weak_key=masking.key is not None and is_weak_key(masking.key),
        )
        build = last_build(connection)
        how = how_to_publish(record, build, masking, published)
        sources = Marts(connection, marts, masking.columns, noted_marts(connection))
        learnt = frozenset(record.words) if record else frozenset[str]()
        if how == "changes" and not still_hold(sources, learnt):
            how = "whole"
        if how == "whole":
            learnt = learnt_words(sources)
        if how == "nothing" and record:
            result = replace(result, masked_words=record.masked_words)
        if how == "changes":
            shutil.copyfile(published, draft)
        if how != "nothing":
            masking = replace(masking, words=publishable_words(sources, learnt))
            with _target(connection, draft):
                _bring(connection, marts, masking, grains if how == "changes" else {})
                digest_inputs(connection, digests.TARGET)
                result = replace(result, masked_words=masked_words(connection))
    if how != "nothing":
        _check(draft, result)
        _give_access(draft, published)
        _sync_to_disk(draft)
        keep_before(published, keep)
        draft.replace(published)
        remove_kept(published, keep)
        _sync_to_disk(published.parent)
        with suppress(OSError):  # without a record the next publication copies the marts whole
            whole_bytes = record.whole_bytes if record and how == "changes" else None
            write_record(private, build, masking, published, whole_bytes, learnt, result.masked_words)
    return result


@contextmanager
def _target(connection: duckdb.DuckDBPyConnection, draft: Path) -> Generator[None]:
    version = "" if draft.exists() else f" (storage_version {literal(STORAGE_VERSION)})"
    connection.execute(f"attach {literal(str(draft))} as target{version}")
    yield
    connection.execute("detach target")


def _bring(
    connection: duckdb.DuckDBPyConnection, marts: Mapping[str, Columns], masking: Masking, grains: Grains
) -> None:
    """Fill the target with these marts; it has those with a grain as of the build before the last one."""
    connection.execute("create schema if not exists target.marts")
    set_mark(connection, "marts")
    noted, published = noted_marts(connection), marts_of(connection, "target")
    has_digests = digests.begin(connection)
    whole = set[str]()
    for name, columns in marts.items():
        brings_changes = name in grains and name in noted and published.get(name) == columns
        if brings_changes:
            copy_changes(connection, name, columns, masking, grains[name])
        else:
            copy_whole(connection, name, columns, masking)
            whole.add(name)
        if brings_changes and has_digests:
            digests.digest_changes(connection, name, columns, gone=GONE, new=NEW)
        else:
            digests.digest_whole(connection, name, columns)
    copy_comments(connection, whole)


def _check(draft: Path, result: Published) -> None:
    """Open the new file again and compare its numbers of rows."""
    with closing(duckdb.connect()) as connection:
        connection.execute(f"attach {literal(str(draft))} as target (read_only)")
        tables = {
            name: count(connection, "target", name)
            for name in marts_of(connection, "target")
            if name != digests.DIGESTS
        }
    if tables != result.tables:
        raise WarehouseError(f"{result.path}: the new file does not hold what was written; the old one stays")


def _refuse_what_is_not_published(private: Path, published: Path) -> None:
    """Make sure that the published file may be replaced: vetl published it, and it is not the private file.

    Raises:
        WarehouseError: the file may not be replaced.
    """
    if published.exists() and private.exists() and published.samefile(private):
        raise WarehouseError(f"{published}: is the private file; warehouse.published must be another")
    refuse_foreign(published, "marts")


def _give_access(draft: Path, published: Path) -> None:
    """Give the draft the mode and group of the published file, so that the same accounts can read it."""
    if not published.exists():
        draft.chmod(_PUBLISHED_MODE)
        return
    before = published.stat()
    mode = stat.S_IMODE(before.st_mode)
    try:
        os.chown(draft, -1, before.st_gid)
    except PermissionError:  # this account is not in that group, and its own group must not read instead
        mode &= ~stat.S_IRWXG
    draft.chmod(mode)


def _sync_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
