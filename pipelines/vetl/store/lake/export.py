"""Export raw, history and control of the private file as Parquet: only partitions that changed.

A changed partition is replaced by a file with a new name. Files of the previous manifest stay until the next
export, so that a reader who began with that manifest can finish.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb

from vetl.core.published_file import SCHEMAS
from vetl.store.connection import PRIVATE, attached
from vetl.store.failures import as_vetl_errors
from vetl.store.lake.manifest import MANIFEST, LakeFile, Manifest, Partition
from vetl.store.lake.storage import Storage
from vetl.store.lake.tables import LakeTable, lake_tables
from vetl.store.lake.write import write_partitions

_OURS = re.compile(r"/[0-9a-f]{16}\.parquet$")


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export. `written` and `written_bytes` count new files; `rows` those of the whole lake."""

    location: str
    export: int
    tables: int
    files: int
    rows: int
    bytes: int
    written: int
    written_bytes: int
    removed: int


def export_private(
    warehouse: Path,
    storage: Storage,
    *,
    lock_wait_seconds: float,
    grace: bool = True,
) -> Exported:
    """Update the lake to the committed rows. Other writers wait for the export, and the export waits for them.

    Without `grace` the files of the previous manifest are removed at once.

    Raises:
        LakeError: the lake cannot be read or written; the files of its manifest stay.
    """
    with (
        attached(warehouse, lock_wait_seconds=lock_wait_seconds) as connection,
        storage.drafts(warehouse.with_name(f"{warehouse.name}.lake")) as drafts,
    ):
        [(clock,)] = connection.execute(
            "select strftime(max_by(source_clock, started_at), '%Y-%m-%dT%H:%M:%SZ') from control.runs"
            " where source_clock is not null"
        ).fetchall()
        return _export(connection, PRIVATE, storage, drafts, clock, grace=grace)


def export_marts(published: Path, storage: Storage, *, grace: bool = True) -> Exported:
    """Update a lake of marts to the published file.

    Without `grace` the files of the previous manifest are removed at once.

    Raises:
        LakeError: the lake cannot be read or written; the files of its manifest stay.
    """
    with (
        as_vetl_errors(published),
        closing(duckdb.connect(published, read_only=True)) as connection,
        storage.drafts(published.with_name(f".{published.name}.lake")) as drafts,
    ):
        connection.execute("set TimeZone = 'UTC'")
        return _export(connection, SCHEMAS, storage, drafts, None, grace=grace)


def _export(
    connection: duckdb.DuckDBPyConnection,
    schemas: Sequence[str],
    storage: Storage,
    drafts: Path,
    clock: str | None,
    *,
    grace: bool = True,
) -> Exported:
    before = read_manifest(storage)
    files: list[LakeFile] = []
    tables = list(lake_tables(connection, schemas))
    for table in tables:
        files += _update_table(connection, table, before, storage, drafts)
    written = {table.full_name: table.written for table in tables}
    now = Manifest((before.export if before else 0) + 1, clock, written, tuple(files))
    if before and (now.tables, now.paths()) == (before.tables, before.paths()):
        now = before
    else:
        _replace_manifest(storage, now, drafts)
    removed = _remove_old(storage, schemas, now, before if grace else None) if now != before or not grace else 0
    return _summary(storage.location, before, now, removed)


def read_manifest(storage: Storage) -> Manifest | None:
    """Return the manifest of the lake; `None` before the first export.

    Raises:
        LakeError: the manifest cannot be read, or this vetl does not know it.
    """
    text = storage.read(MANIFEST)
    return Manifest.parse(text, storage.location) if text is not None else None


def _update_table(
    connection: duckdb.DuckDBPyConnection,
    table: LakeTable,
    before: Manifest | None,
    storage: Storage,
    drafts: Path,
) -> list[LakeFile]:
    """Return the files of a table: existing files of unchanged partitions, new files of the others."""
    partitions = table.fingerprints(connection)
    listed = [file for file in before.files if file.table == table.full_name] if before else []
    current = [file for file in listed if _is_current(file, table, partitions)]
    there = {file.partition for file in current}
    outdated = {partition: fingerprint for partition, fingerprint in partitions.items() if partition not in there}
    if not outdated and current:
        return current
    return [*current, *write_partitions(connection, table, outdated, storage, drafts)]


def _is_current(file: LakeFile, table: LakeTable, partitions: Mapping[Partition, str]) -> bool:
    if file.schema_version != table.written.schema_version:
        return False
    if not partitions:
        return not file.rows
    return partitions.get(file.partition) == file.fingerprint


def _replace_manifest(storage: Storage, manifest: Manifest, drafts: Path) -> None:
    storage.settle()
    storage.put_text(json.dumps(manifest.as_json()), drafts / MANIFEST, MANIFEST)


def _remove_old(storage: Storage, schemas: Sequence[str], now: Manifest, before: Manifest | None) -> int:
    """Remove the files that neither manifest lists: older files, and those of a killed export."""
    listed = now.paths() | (before.paths() if before else set())
    old = [
        path for schema in schemas for path in storage.paths(schema) if path not in listed and _OURS.search(path)
    ]
    for path in old:
        storage.remove(path)
    return len(old)


def _summary(location: str, before: Manifest | None, now: Manifest, removed: int) -> Exported:
    new = now.paths() - (before.paths() if before else set())
    return Exported(
        location=location,
        export=now.export,
        tables=len(now.tables),
        files=len(now.files),
        rows=sum(file.rows for file in now.files),
        bytes=sum(file.bytes for file in now.files),
        written=len(new),
        written_bytes=sum(file.bytes for file in now.files if file.path in new),
        removed=removed,
    )
