"""Run one SQL statement that only reads one file: no other file, no setting, no extension.

The statement runs in its own thread and its rows come in batches, so that DuckDB's limit bounds the memory and an
interrupt ends the statement at once.
"""

import io
import re
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor, wait
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from vetl.core.errors import WrongUse
from vetl.core.text import nearest, some_of
from vetl.publishing.opened import opened, opened_for
from vetl.store.connection import Connection, as_warehouse_error, first_line, is_of_the_machine

T = TypeVar("T")
Rows = list[tuple[Any, ...]]

BATCH = 2_048
"""The most rows in Python's memory."""

_BOUNDLESS = 1_000_000
"""More characters than any row of a table has."""

_READS = frozenset({duckdb.StatementType.SELECT, duckdb.StatementType.MULTI})
"""`MULTI` is a PIVOT: a statement that finds the columns, then a SELECT."""

_DID_YOU_MEAN = re.compile(r'\nDid you mean "([^"]+)')
_CANDIDATES = re.compile(r"\nCandidate (?:bindings|tables):([^\n]+)")
_UNKNOWN = re.compile(
    r'(?P<column>[Cc]olumn)(?: named)? "(?P<its>[^"]+)"(?: not found| in [A-Z]+ list not found| does not exist|$)'
    r'|[Tt]able (?:with name )?"?(?P<table>[^" ]+)"? (?:not found|does not exist)'
)

_TABLES = re.compile(r"\b(?:from|join)\s+([\w.]+)", re.IGNORECASE)
_EXPLAIN = re.compile(r"\s*explain(?:\s+analyze)?\s+(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a statement, as Python values."""

    columns: tuple[str, ...]
    rows: Rows


Read = Callable[[str], QueryResult]
"""Run a statement on an open file and fetch all its rows."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The first rows of a statement, drawn. `columns` has the number of columns if some are left out.

    `rows` is the number of all rows if it is known. `count` runs the statement to its end to count them.
    """

    drawn: str
    shown: int
    columns: str
    rows: int | None
    count: Callable[[], int]


@dataclass(frozen=True, slots=True)
class RowStream:
    """The rows of a statement, in batches of at most `BATCH`."""

    columns: tuple[str, ...]
    batches: Iterator[Rows]


def query(file: Path, sql: str) -> QueryResult:
    """Run a statement and fetch all its rows; instants come in UTC."""
    with streamed(file, sql) as stream:
        return QueryResult(stream.columns, [row for batch in stream.batches for row in batch])


@contextmanager
def reading(file: Path, practices: Collection[str] | None = None) -> Generator[Read]:
    """Open a file once for several statements; yield the function that runs one of them.

    With `practices`, each table of the marts has only the rows of these practices, whatever the statements ask.
    """
    with opened(file, None) if practices is None else opened_for(file, practices) as connection:

        def read(sql: str) -> QueryResult:
            with _run(connection, file, sql) as statement:
                rows = statement.run(lambda: connection.execute(sql).fetchall())
                return QueryResult(tuple(column[0] for column in connection.description or ()), rows)

        yield read


@contextmanager
def streamed(file: Path, sql: str) -> Generator[RowStream]:
    """Run a statement, and fetch its rows when the caller takes them.

    Raise `WrongUse` if the statement is not SQL that this file can answer, or would do more than read it.
    """
    with _statement(file, sql) as (connection, statement):
        statement.run(lambda: connection.execute(sql))
        columns = tuple(column[0] for column in connection.description or ())
        yield RowStream(columns, iter(lambda: statement.run(lambda: connection.fetchmany(BATCH)), []))


@contextmanager
def previewed(file: Path, sql: str, *, width: int | None, most: int) -> Generator[Preview]:
    """Run a statement up to its first rows, and draw them as DuckDB's shell does in `width` characters.

    Without a `width` no column is left out and no cell is cut.
    """
    with _statement(file, sql) as (connection, statement):
        relation = statement.run(lambda: connection.sql(sql))
        first_rows = statement.run(relation.limit(most + 1).to_arrow_table)
        rows = None if first_rows.num_rows > most else first_rows.num_rows
        box, columns = _drawn(connection, first_rows.slice(0, most), width)

        def count() -> int:
            return statement.run(lambda: relation.count("*").fetchall())[0][0]

        yield Preview(box, min(first_rows.num_rows, most), columns, rows, count)


def _drawn(connection: Connection, rows: Any, width: int | None) -> tuple[str, str]:  # noqa: ANN401 - Arrow's
    """Return the drawn table and DuckDB's line about its columns; the text of a plan is returned as it is."""
    if rows.column_names == ["explain_key", "explain_value"]:
        return "".join(rows.column(1).to_pylist()), ""
    lines = io.StringIO()
    with redirect_stdout(lines):
        connection.from_arrow(rows).show(
            max_width=width or _BOUNDLESS, max_rows=rows.num_rows + 1, max_col_width=None if width else _BOUNDLESS
        )
    box, edge, below = lines.getvalue().rpartition("\u2518\n")
    columns = re.search(r"\d+ columns \(\d+ shown\)", below)
    return box + edge, columns[0] if columns else ""


def columns_of(read: Read) -> dict[str, dict[str, str]]:
    """Return the columns of every mart of the open file with their types, in order."""
    marts: dict[str, dict[str, str]] = {}
    for mart, column, kind in read(
        "select table_name, column_name, data_type from duckdb_columns() where schema_name in ('marts', 'meta')"
        " and database_name = current_database() order by table_name, column_index"
    ).rows:
        marts.setdefault(mart, {})[column] = kind
    return marts


def query_to_parquet(file: Path, sql: str, target: Path) -> None:
    """Run a statement and write its rows to a Parquet file."""
    with _statement(file, sql, writes_to=target.parent) as (connection, statement):
        statement.run(lambda: connection.sql(sql).write_parquet(str(target)))


def _only_reads(connection: Connection, sql: str) -> None:
    """Refuse a text that is not one statement that reads: DuckDB allows COPY and ATTACH on the open file."""
    kinds = _kinds(connection, sql)
    explained = _EXPLAIN.fullmatch(sql)
    if kinds == [duckdb.StatementType.EXPLAIN] and explained:
        kinds = _kinds(connection, explained[1])
    if not kinds:
        raise WrongUse("the statement has no rows to show")
    if len(kinds) > 1:
        raise WrongUse("one statement at a time")
    if kinds[0] not in _READS:
        what = kinds[0].name.replace("_", " ")
        raise WrongUse(f"only statements that read are answered, the file is open read-only; this is {what}")


def _kinds(connection: Connection, sql: str) -> list[duckdb.StatementType]:
    try:
        return [statement.type for statement in connection.extract_statements(sql)]
    except duckdb.Error as error:
        raise WrongUse(first_line(error)) from None


_NAMES = """
    select schema_name, table_name, column_name from duckdb_columns() where not internal
    order by column_index, schema_name, table_name
"""


def _wording(error: duckdb.Error, connection: Connection, sql: str) -> str:
    """Return the first line of an error; if a name is unknown, only the name and the nearest one.

    Of a column the nearest is looked for in the tables of the statement, else another table that has it is named.
    """
    line, message = first_line(error).rstrip("!."), str(error)
    meant, candidates, unknown = (
        kind.search(text) for kind, text in ((_DID_YOU_MEAN, message), (_CANDIDATES, message), (_UNKNOWN, line))
    )
    if not unknown:
        return f"{line}; did you mean {meant[1]}?" if meant else line
    names = connection.execute(_NAMES).fetchall()
    some = re.findall(r'"([^"]+)"', candidates[1]) if candidates else []
    if table := unknown["table"]:
        few = f"others are {some_of(some, 5)}" if some else ""
        every = sorted({own for _, own, _ in names})
        return f'table "{table}" not found{nearest(table.rpartition(".")[2], some or every, few)}'
    column = unknown["its"].rpartition(".")[2]
    read = {name.rpartition(".")[2] for name in _TABLES.findall(sql)}
    known = [*dict.fromkeys(name for _, of, name in names if of in read)] or some
    elsewhere = sorted(f"{schema}.{of}" for schema, of, name in names if name.lower() == column.lower())
    few = f"others are {some_of(known, 5)}" if known else ""
    few = f"it is a column of {some_of(elsewhere)}" if elsewhere else few
    every = sorted({name for _, _, name in names})
    return f'column "{unknown["its"]}" not found{nearest(column, known or every, few)}'


class _Statement:
    """Run work in a thread, so that a signal that arrives meanwhile ends the work."""

    def __init__(self, connection: Connection, file: Path, sql: str, thread: Executor) -> None:
        self._connection = connection
        self._sql = sql
        self._file = file
        self._thread = thread

    def run(self, work: Callable[[], T]) -> T:
        """Run the work and return its result; a failure becomes one line."""
        future = self._thread.submit(work)
        try:
            # The timeout lets this thread run, because Python handles a signal only while it runs.
            while wait([future], timeout=0.1).not_done:
                pass
            return future.result()
        except duckdb.Error as error:
            if is_of_the_machine(error):
                raise as_warehouse_error(error, self._file) from None
            raise WrongUse(_wording(error, self._connection, self._sql)) from None
        finally:
            while not future.done():  # a signal came; DuckDB may not have begun yet
                self._connection.interrupt()
                wait([future], timeout=0.05)


@contextmanager
def _statement(file: Path, sql: str, *, writes_to: Path | None = None) -> Generator[tuple[Connection, _Statement]]:
    with opened(file, writes_to) as connection, _run(connection, file, sql) as statement:
        yield connection, statement


@contextmanager
def _run(connection: Connection, file: Path, sql: str) -> Generator[_Statement]:
    with ThreadPoolExecutor(1, "query") as thread:
        _only_reads(connection, sql)
        try:
            yield _Statement(connection, file, sql, thread)
        finally:
            # A signal between the start of work and the `try` of `run` leaves work that must be ended here.
            idle = thread.submit(int)
            while wait([idle], timeout=0.05).not_done:
                connection.interrupt()
