"""Write partitions of a table as Parquet files in batches, then put them into the lake one by one."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote

import duckdb

from vetl.core.errors import LakeError
from vetl.store.connection import literal
from vetl.store.failures import first_line, remedy_in
from vetl.store.lake.manifest import LakeFile, Partition
from vetl.store.lake.storage import Storage
from vetl.store.lake.tables import MONTH, LakeTable

AT_ONCE = 64
"""Partitions of one statement, which reads the table once; DuckDB keeps a file open for each partition."""

_NONE = "__HIVE_DEFAULT_PARTITION__"
_FORMAT = "format parquet, compression zstd, return_stats"


def write_partitions(
    connection: duckdb.DuckDBPyConnection,
    table: LakeTable,
    fingerprints: Mapping[Partition, str],
    storage: Storage,
    drafts: Path,
) -> Iterator[LakeFile]:
    """Write these partitions of a table under new names; `fingerprints` has that of each.

    A table without rows becomes one empty file with the columns.
    """
    if not fingerprints:
        draft = drafts / "empty.parquet"
        _copy(connection, f"copy ({table.select()} limit 0) to {literal(str(draft))} ({_FORMAT})", storage)
        yield _put(table, (None, None), "0:0", draft, 0, storage)
    ordered = sorted(fingerprints, key=lambda partition: tuple(part or "" for part in partition))
    for first in range(0, len(ordered), AT_ONCE):
        some = ordered[first : first + AT_ONCE]
        for partition, draft, rows in _copied(connection, table, some, drafts / "some", storage):
            yield _put(table, partition, fingerprints[partition], draft, rows, storage)
        shutil.rmtree(drafts / "some", ignore_errors=True)


def _copied(
    connection: duckdb.DuckDBPyConnection,
    table: LakeTable,
    partitions: Sequence[Partition],
    drafts: Path,
    storage: Storage,
) -> Iterator[tuple[Partition, Path, int]]:
    """Yield each partition with its file and number of rows."""
    if not table.keys:
        drafts.mkdir(exist_ok=True)
        draft = drafts / "all.parquet"
        [(rows,)] = _copy(
            connection,
            f"copy ({table.select()}) to {literal(str(draft))} (format parquet, compression zstd)",
            storage,
        )
        yield (None, None), draft, rows
        return
    parameters: dict[str, list[str | None]] = {"practices": [practice for practice, _ in partitions]}
    among = "select unnest($practices::varchar[]) as asked_practice"
    alike = "practice_id = asked_practice"
    if table.month_of:
        parameters["months"] = [month for _, month in partitions]
        among += ", unnest($months::varchar[]) as asked_month"
        alike += f" and {MONTH} is not distinct from asked_month"
    written = _copy(
        connection,
        f"copy (from ({table.select()}) semi join ({among}) on {alike}) to {literal(str(drafts))}"
        f" ({_FORMAT}, partition_by ({', '.join(table.keys)}), write_partition_columns true)",
        storage,
        parameters,
    )
    for name, rows, *_, keys, _extra in written:
        yield (keys["practice_id"], keys.get(MONTH)), Path(name), rows


def _copy(
    connection: duckdb.DuckDBPyConnection,
    statement: str,
    storage: Storage,
    parameters: Mapping[str, Sequence[str | None]] | None = None,
) -> list[tuple[Any, ...]]:
    """Write files and return their statistics.

    Raises:
        LakeError: a file cannot be written. Other errors are those of the file that is read.
    """
    try:
        return connection.execute(statement, parameters).fetchall()
    except duckdb.Error as error:
        if remedy := remedy_in(str(error)):
            raise LakeError(f"{storage.location}: cannot be written: {first_line(error)}{remedy}") from None
        raise


def _put(
    table: LakeTable, partition: Partition, fingerprint: str, draft: Path, rows: int, storage: Storage
) -> LakeFile:
    folders = [table.schema, table.name]
    if table.keys:
        folders += [
            f"{key}={_escaped(value)}"
            for key, value in zip(("practice_id", MONTH), partition, strict=True)
            if key in table.keys
        ]
    path = f"{'/'.join(folders)}/{token_hex(8)}.parquet"
    size = draft.stat().st_size
    storage.put(draft, path)
    return LakeFile(table.full_name, *partition, path, rows, size, table.written.schema_version, fingerprint)


def _escaped(value: str | None) -> str:
    """Escape a value as Hive does: characters that a folder's name cannot contain are percent-encoded."""
    return _NONE if value is None else quote(value, safe="")
