"""Create raw and history tables from an endpoint's declaration (warehouse/README.md).

Apply forward-only migrations, `warehouse/migrations/NNNN_name.sql`, each once.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from vetl import bundled
from vetl.core.endpoint import Column, Endpoint, Kind
from vetl.core.errors import WarehouseError
from vetl.partner.calls_csv import COLUMNS
from vetl.store.connection import Connection, literal, quoted

BOOKKEEPING = (
    ("_loaded_at", "TIMESTAMPTZ"),
    ("_run_id", "VARCHAR"),
    ("_row_hash", "UBIGINT"),
    ("_deleted_at", "TIMESTAMPTZ"),
    ("_extra", "JSON"),
)
VALIDITY = (("_valid_from", "TIMESTAMPTZ"), ("_valid_to", "TIMESTAMPTZ"))


@dataclass(frozen=True, slots=True)
class RawTable:
    """`raw.<table>` and `history.<table>` of one endpoint.

    The source fills `columns`. A change in a `hashed` column makes a new version. `mentions` are columns that hold
    ids of a list that is read by id, each with the name of that list.
    """

    endpoint: Endpoint
    columns: tuple[Column, ...]
    hashed: tuple[Column, ...]
    mentions: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, endpoint: Endpoint, mentions: tuple[tuple[str, str], ...] = ()) -> "RawTable":
        """Return the tables of a declaration."""
        columns = hashed = endpoint.columns()
        if not endpoint.strategy.has_ids:
            # Keys, attached ids and columns derived from the time zone are vetl's own and make no version.
            csv_columns = {column.raw for column in COLUMNS}
            hashed = tuple(column for column in columns if column.name in csv_columns)
        return cls(endpoint, columns, hashed, mentions)

    @property
    def raw(self) -> str:
        """Return the quoted name of the raw table."""
        return f"raw.{quoted(self.endpoint.table)}"

    @property
    def history(self) -> str:
        """Return the quoted name of the history table."""
        return f"history.{quoted(self.endpoint.table)}"

    def has(self, name: str) -> bool:
        """Return whether the source fills a column of this name."""
        return any(column.name == name for column in self.columns)


def row_hash(columns: Iterable[Column], source: str) -> str:
    """Return SQL for `_row_hash`: 64 bits over the own fields of the rows named `source`.

    The hash only distinguishes a row from its earlier version, so DuckDB's hash is enough, at a third of the cost
    of MD5. If a version of DuckDB hashes differently, the file is rehashed when it is opened
    (`_rehash_if_needed`).
    """
    names = ((f"{source}.{quoted(column.name)}", column.kind) for column in columns)
    values = (f"epoch_us({name})" if kind in (Kind.INSTANT, Kind.LOCAL) else name for name, kind in names)
    return f"hash({', '.join(f'{value}::VARCHAR' for value in values)})"


def columns_in(
    connection: Connection, schemas: Iterable[str], database: str | None = None
) -> dict[tuple[str, str], dict[str, str]]:
    """Return the columns and types of each table or view, by schema and name, of the default or another database.

    This is one query, because each costs milliseconds.
    """
    tables: dict[tuple[str, str], dict[str, str]] = {}
    for schema, table, column, kind in connection.execute(
        "select schema_name, table_name, column_name, data_type from duckdb_columns()"
        " where database_name = coalesce($database, current_database()) and list_contains($schemas, schema_name)"
        " order by table_name, schema_name, column_index",
        {"database": database, "schemas": list(schemas)},
    ).fetchall():
        tables.setdefault((schema, table), {})[column] = kind
    return tables


def ensure(connection: Connection, tables: Iterable[RawTable]) -> None:
    """Create the tables, or add the columns that their declarations have gained."""
    present = columns_in(connection, ("raw", "history"))
    tables = list(tables)
    for table in tables:
        _ensure(connection, table, present)
        # With an index a commit costs O(rows that it brings) (decision 28). Calls are found by their day, for
        # which the zone maps of a growing table suffice.
        if table.endpoint.strategy.has_ids:
            name, column = quoted(f"{table.endpoint.table}_key"), quoted(table.endpoint.key[0])
            connection.execute(f"create index if not exists {name} on {table.raw} ({column})")
    _rehash_if_needed(connection, tables)


def _rehash_if_needed(connection: Connection, tables: Iterable[RawTable]) -> None:
    """Rehash every row if this DuckDB hashes differently from the version that wrote the file."""
    (probe,) = connection.execute("select hash('vetl', null::VARCHAR, '')::VARCHAR").fetchall()[0]
    recorded = connection.execute("select value from control.meta where name = 'row_hash_probe'").fetchall()
    if recorded == [(probe,)]:
        return
    for table in tables:
        for name in (table.raw, table.history):
            connection.execute(f"update {name} as stored set _row_hash = {row_hash(table.hashed, 'stored')}")
    connection.execute("delete from control.meta where name = 'row_hash_probe'")
    connection.execute("insert into control.meta values ('row_hash_probe', ?)", [probe])


def _ensure(connection: Connection, table: RawTable, present: Mapping[tuple[str, str], Collection[str]]) -> None:
    endpoint = table.endpoint
    fields = [("practice_id", "VARCHAR"), *((item.name, item.kind.value) for item in table.columns)]
    for schema, expected in (("raw", [*fields, *BOOKKEEPING]), ("history", [*fields, *BOOKKEEPING, *VALIDITY])):
        columns = present.get((schema, endpoint.table))
        name = f"{schema}.{quoted(endpoint.table)}"
        if columns is None:
            definition = ", ".join(f"{quoted(column)} {kind}" for column, kind in expected)
            connection.execute(f"create table {name} ({definition})")
            continue
        gained = [(column, kind) for column, kind in expected if column not in columns]
        for column, kind in gained:
            connection.execute(f"alter table {name} add column {quoted(column)} {kind}")
        if gained:
            _take_from_extra(connection, name, gained, table)


def _take_from_extra(connection: Connection, name: str, gained: list[tuple[str, str]], table: RawTable) -> None:
    """Move values from `_extra` into the new columns, and rehash.

    So a field that is declared later makes no row look changed.
    """
    for column, kind in gained:
        path = literal(f'$."{column}"')
        value = f"try_cast(_extra {'->' if kind == Kind.JSON else '->>'} {path} as {kind})"
        rest = f"json_merge_patch(_extra, json_object({literal(column)}, null))"
        connection.execute(
            f"update {name} set {quoted(column)} = {value},"
            f" _extra = nullif({rest}::VARCHAR, '{{}}')::JSON where {value} is not null"
        )
    connection.execute(f"update {name} as stored set _row_hash = {row_hash(table.hashed, 'stored')}")


FIRST = "0001_control"
"""The migration that creates a new file."""


def migrate(connection: Connection) -> tuple[str, ...]:
    """Apply missing migrations and return their names. The transaction around them belongs to the caller."""
    migrations = _shipped()
    if not migrations:
        raise WarehouseError(f"{bundled.migrations()}: there are no migrations here; is vetl installed whole?")
    applied = _applied(connection)
    _refuse_newer(applied - migrations.keys())
    missing = tuple(name for name in migrations if name not in applied)
    for name in missing:
        connection.execute(migrations[name].read_text("utf-8"))
        connection.execute(
            "create table if not exists control.migrations"
            " (name varchar not null, applied_at timestamptz not null)"
        )
        connection.execute("insert into control.migrations values (?, now())", [name])
    return missing


def refuse_newer(connection: Connection) -> None:
    """Check a file that is only read and not migrated."""
    _refuse_newer(_applied(connection) - _shipped().keys())


def _shipped() -> dict[str, Path]:
    return {file.stem: file for file in sorted(bundled.migrations().glob("[0-9]*.sql"))}


def _refuse_newer(unknown: set[str]) -> None:
    if unknown:
        raise WarehouseError(f"the warehouse is newer than this vetl (it has {max(unknown)}): upgrade vetl")


def _applied(connection: Connection) -> set[str]:
    """Return the migrations of the default database."""
    there = connection.execute(
        "select 1 from duckdb_tables() where database_name = current_database()"
        " and schema_name = 'control' and table_name = 'migrations'"
    ).fetchone()
    rows = connection.execute("select name from control.migrations").fetchall() if there else []
    return {name for (name,) in rows}


def canonical_json(value: object) -> str:
    """Return the canonical JSON of a value: sorted keys, no spaces, so that equal values hash alike.

    Raise `ValueError` if the value is not JSON, or cannot be written in UTF-8.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    text.encode()
    return text
