"""The tables of a lake: their columns, their partitions, and a fingerprint of each partition."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb

from vetl.store.connection import quoted
from vetl.store.lake.manifest import Partition, TableSchema

MONTH = "month"
_PRACTICE = "practice_id"
_MONTH_OF = ("call_date", "created_at", "received_at")
"""Columns that give the month of a row in raw and history; the first that a table has is used."""

_CONTROL = {
    "windows": (_PRACTICE, "finished_at"),
    "restatements": (_PRACTICE, "noticed_at"),
    "lookups": (_PRACTICE, None),
    "mentions": (_PRACTICE, None),
    "missing_records": (_PRACTICE, None),
    "phone_numbers": (_PRACTICE, None),
}
"""Control tables that grow with the rows, with their partitions; each other table is one file."""

_WRITTEN_AS = {"JSON": "VARCHAR", "UBIGINT": "DECIMAL(20,0)"}
"""The types in Parquet. JSON is text, because every engine's JSON functions take text. Trino has no unsigned
numbers, and rejects their statistics as corrupted (trinodb/trino#27274); Spark reads them as this decimal too."""

_LEFT_OUT = ("meta", "migrations", "building", "forgotten_keys", "forgotten_values")
_NOTES = "changed_in_"
"""The tables that are not exported: notes of builds, and secrets of the private file."""


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A table and its partitions. `month_of` is a column of type date or timestamptz."""

    schema: str
    name: str
    columns: tuple[tuple[str, str], ...]
    practice: str | None
    month_of: str | None

    @property
    def full_name(self) -> str:
        """Return the name with the schema, such as `raw.phone_calls`."""
        return f"{self.schema}.{self.name}"

    @property
    def source(self) -> str:
        """Return the name in SQL."""
        return f"{self.schema}.{quoted(self.name)}"

    @property
    def keys(self) -> tuple[str, ...]:
        """Return the columns of the table's partitions."""
        return tuple(
            name for name, value in ((_PRACTICE, self.practice), (MONTH, self.month_of)) if value is not None
        )

    @property
    def written(self) -> TableSchema:
        """Return the schema of its files."""
        columns = {name: _written_as(kind) for name, kind in self.columns}
        if self.month_of:
            columns[MONTH] = "VARCHAR"
        text = ", ".join(f"{name} {kind}" for name, kind in columns.items())
        return TableSchema(hashlib.sha256(text.encode()).hexdigest()[:12], self.keys, columns)

    @property
    def month(self) -> str:
        """Return SQL for a row's month in UTC; for a call, the month of its day at the practice."""
        if self.month_of is None:
            return "null::varchar"
        name = quoted(self.month_of)
        is_day = dict(self.columns)[self.month_of] == "DATE"
        local = name if is_day else f"timezone('UTC', {name})"
        return f"strftime({local}, '%Y-%m')"

    def fingerprints(self, connection: duckdb.DuckDBPyConnection) -> dict[Partition, str]:
        """Return the number of rows and the sum of their hashes for each partition; it reads the table once.

        If a later version of DuckDB has another hash, every partition is written again once.
        """
        hashed = ", ".join(quoted(name) for name, _ in self.columns)
        rows = connection.execute(
            f"select {self.practice or 'null::varchar'}, {self.month},"
            f" count(*) || ':' || sum(hash({hashed})::hugeint) from {self.source} group by all"
        ).fetchall()
        return {(practice, month): fingerprint for practice, month, fingerprint in rows}

    def select(self) -> str:
        """Return SQL for the rows of its files."""
        casts = ", ".join(
            f"{quoted(name)}::{_written_as(kind)} as {quoted(name)}"
            for name, kind in self.columns
            if _written_as(kind) != kind
        )
        replaced = f" replace ({casts})" if casts else ""
        month = f", {self.month} as {MONTH}" if self.month_of else ""
        return f"select *{replaced}{month} from {self.source}"


def _written_as(kind: str) -> str:
    for type_, other in _WRITTEN_AS.items():
        kind = kind.replace(type_, other)
    return kind


def lake_tables(connection: duckdb.DuckDBPyConnection, schemas: Sequence[str]) -> Iterator[LakeTable]:
    """Yield every exported table of these schemas, in the order of the names."""
    columns_by_table: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for schema, table, column, kind in connection.execute(
        "select schema_name, table_name, column_name, data_type from duckdb_columns()"
        " where database_name = current_database() and schema_name in $schemas"
        " order by schema_name, table_name, column_index",
        {"schemas": list(schemas)},
    ).fetchall():
        if schema != "control" or (table not in _LEFT_OUT and not table.startswith(_NOTES)):
            columns_by_table.setdefault((schema, table), []).append((column, kind))
    for (schema, table), columns in columns_by_table.items():
        yield LakeTable(schema, table, tuple(columns), *_placed(schema, table, columns))


def _placed(schema: str, table: str, columns: list[tuple[str, str]]) -> tuple[str | None, str | None]:
    if schema not in ("raw", "history"):
        return _CONTROL.get(table, (None, None)) if schema == "control" else (None, None)
    names = [name for name, _ in columns]
    return _PRACTICE, next((name for name in _MONTH_OF if name in names), None)
