"""Compare the results of two engines for the same models, table by table and view by view."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
from vetl.publishing.digests import DIGESTS
from vetl.publishing.marts import table_of

_SCHEMAS = ("staging", "intermediate", "marts", "meta")
_OWN = "digest"
"""A column with numbers of each engine's own, which only identify rows within one warehouse."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One table on both engines. `ours` and `theirs` are rows that the other side lacks."""

    name: str
    rows: int
    ours: int
    theirs: int
    columns: str
    """Return the difference of the columns, or nothing."""

    @property
    def is_equal(self) -> bool:
        return not (self.ours or self.theirs or self.columns)

    def __str__(self) -> str:
        if self.is_equal:
            return f"equal   {self.name}: {self.rows:,} rows"
        unlike = self.columns or f"{self.ours:,} rows on DuckDB alone, {self.theirs:,} on Spark alone"
        return f"DIFFERS {self.name}: {unlike}"


def compared(warehouse: Path, tables: Path) -> Iterator[Compared]:
    """Return every model on DuckDB, table or view, with Spark's of that name."""
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        connection.execute(
            f"attach '{warehouse}' as \"{warehouse.stem}\" (read_only)"
        )  # the name that the views use
        connection.execute(f'use "{warehouse.stem}"')
        names = connection.execute(
            "select schema_name, table_name from duckdb_tables() where schema_name in $schemas union all"
            " select schema_name, view_name from duckdb_views() where schema_name in $schemas order by all",
            {"schemas": _SCHEMAS},
        ).fetchall()
        for schema, table in names:
            files = tables / f"{schema}.db" / table
            theirs = f"read_parquet('{files}/*.parquet')" if any(files.glob("*.parquet")) else ""
            yield _one(connection, f"{schema}.{table}", theirs)


def published_alike(ours: Path, theirs: Path) -> Iterator[str]:
    """Yield the marts that differ between two published files, but for masks, which are salted by file.

    The digests are left out: they follow from the rows, with masks and last bits.
    """
    with duckdb.connect() as connection:
        for name, file in (("ours", ours), ("theirs", theirs)):
            connection.execute(f"attach '{file}' as {name} (read_only)")
        tables, shown = [], []
        for name in ("ours", "theirs"):
            rows = connection.execute(
                "select table_name, column_name, data_type from duckdb_columns()"
                " where database_name = $name and table_name <> $digests order by table_name, column_index",
                {"name": name, "digests": DIGESTS},
            ).fetchall()
            tables.append(rows)
            shown.append(dict.fromkeys(table for table, *_ in rows))
        if tables[0] != tables[1]:
            yield "published columns"
        for mart in shown[0]:
            columns = [
                (f"case when starts_with({column}, 'masked ') then 'masked' else {column} end", kind)
                if kind == "VARCHAR"
                else (column, kind)
                for table, column, kind in tables[0]
                if table == mart
            ]
            sides = [_rounded(columns, f"{name}.{table_of(mart)}") for name in ("ours", "theirs")]
            if _number(
                connection, f"({sides[0]} except all {sides[1]}) union all ({sides[1]} except all {sides[0]})"
            ):
                yield f"published {mart}"


def _one(connection: duckdb.DuckDBPyConnection, name: str, theirs: str) -> Compared:
    rows = _number(connection, f"from {name}")
    if not theirs:
        return Compared(name, rows, rows, 0, "it is not on Spark")
    here, there = _columns(connection, name), _columns(connection, theirs)
    if here != there:
        unlike = f"{_unlike(here, there)} on DuckDB, {_unlike(there, here)} on Spark"
        return Compared(name, rows, 0, 0, f"columns are {unlike}")
    ours, theirs = _rounded(here, name), _rounded(there, theirs)
    return Compared(
        name,
        rows,
        _number(connection, f"{ours} except all {theirs}"),
        _number(connection, f"{theirs} except all {ours}"),
        "",
    )


def _columns(connection: duckdb.DuckDBPyConnection, relation: str) -> list[tuple[str, str]]:
    described = connection.execute(f"describe from {relation}").fetchall()
    return [(name, kind) for name, kind, *_ in described if name != _OWN]


def _rounded(columns: Iterable[tuple[str, str]], relation: str) -> str:
    """Return a query of columns (names and types), with doubles rounded: their last bits depend on the engine."""
    values = ", ".join(f"round({name}, 9)" if kind == "DOUBLE" else name for name, kind in columns)
    return f"select {values} from {relation}"


def _unlike(here: list[tuple[str, str]], there: list[tuple[str, str]]) -> str:
    return ", ".join(" ".join(column) for column in here if column not in there) or "in another order"


def _number(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    [(number,)] = connection.execute(f"select count(*) from ({query})").fetchall()
    return number
