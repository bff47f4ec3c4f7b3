"""Read a mart in every way that this environment has; print what each of them read, as JSON.

It runs without vetl, in an environment of its own.
"""

import gc
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import duckdb
import pandas as pd
import polars as pl

FILE, CONTACTS, PARQUET = sys.argv[1:]
QUERY = "select practice_id, calls from marts.practice_daily"
COLUMNS = ["practice_id", "calls"]


def of_duckdb() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the ways of every DuckDB."""
    commented = f"{QUERY} where (select comment from duckdb_tables() where table_name = 'practice_daily') <> ''"
    named = f"attach '{CONTACTS}' as c (read_only); {QUERY} where (select count(name) from c.clients) > 0"
    yield "DuckDB", lambda: asked(QUERY)
    yield "DuckDB, comments", lambda: asked(commented)
    yield "DuckDB, contacts.duckdb", lambda: asked(named)
    yield "DuckDB, to pandas", lambda: asked(QUERY, "df")
    yield "DuckDB, to polars", lambda: asked(QUERY, "pl")
    yield "pandas, read_parquet", lambda: pd.read_parquet(PARQUET, columns=COLUMNS)
    yield "polars, read_parquet", lambda: pl.read_parquet(PARQUET, columns=COLUMNS)


def asked(query: str, form: str = "fetchall") -> Any:
    """Return the answer to a query in a form: rows, or a frame."""
    with duckdb.connect(FILE, read_only=True) as connection:
        return getattr(connection.sql(query), form)()


def of_today() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the ways of SQLAlchemy and ibis."""
    import ibis  # noqa: PLC0415 # pyright: ignore[reportMissingImports] - the oldest DuckDB's environment lacks both
    import sqlalchemy as sa  # noqa: PLC0415

    engine = sa.create_engine(f"duckdb:///{FILE}", connect_args={"read_only": True}, poolclass=sa.NullPool)
    daily = sa.table("practice_daily", *map(sa.column, COLUMNS), schema="marts")
    yield "pandas, read_sql", lambda: pd.read_sql(QUERY, engine)
    yield "polars, read_database", lambda: pl.read_database(QUERY, engine.connect())
    yield "SQLAlchemy, text()", lambda: engine.connect().execute(sa.text(QUERY)).fetchall()
    yield "SQLAlchemy, table()", lambda: engine.connect().execute(sa.select(daily)).fetchall()

    def of_ibis() -> Any:
        return ibis.duckdb.connect(FILE, read_only=True)

    reflect = partial(sa.Table, "practice_daily", sa.MetaData(), schema="marts", autoload_with=engine)
    yield "SQLAlchemy, reflection", reflect
    yield "ibis, table()", lambda: of_ibis().table("practice_daily", database="marts")[COLUMNS].execute()  # noqa: PLW0108 - later
    yield "ibis, list_tables", lambda: of_ibis().list_tables(database="marts")
    yield "ibis, sql", lambda: of_ibis().sql(QUERY).execute()


def read(ask: Callable[[], Any]) -> str:
    """Return the number of rows and of calls that were read, or the error in one line."""
    gc.collect()  # DuckDB opens a file once in a process, and the next client opens it in another way
    try:
        found = ask()
    except Exception as error:  # noqa: BLE001 - whatever a client raises is its answer
        return f"fails: {' '.join(str(error).split())[:200]}"
    rows = (
        found if isinstance(found, list) else found.rows() if hasattr(found, "rows") else found.to_numpy().tolist()
    )
    return f"{len(rows)} rows, {sum(int(calls) for _, calls in rows)} calls"


ways = dict(of_duckdb())
if importlib.util.find_spec("sqlalchemy"):
    ways |= dict(of_today())
json.dump({name: read(ask) for name, ask in ways.items()}, sys.stdout)
