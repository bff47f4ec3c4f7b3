"""Write a file with some practices of the published file alone, for readers of the file itself."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError, cannot_write
from vetl.core.published_file import DIGESTS, MARTS, SCHEMAS
from vetl.publishing.marts import table_of
from vetl.publishing.opened import OF_NO_PRACTICE, rows_of
from vetl.publishing.publication import STORAGE_VERSION
from vetl.publishing.retention import refuse_foreign, set_mark
from vetl.store.connection import as_warehouse_error, literal, quoted
from vetl.store.drafts import draft_for

_MODE = 0o640


def extract(published: Path, target: Path, practices: Sequence[str]) -> dict[str, int]:
    """Write the marts of these practices into a new file, and return the number of rows by table.

    The rows are copied into an empty file, so that no byte of another practice is in it. A table without
    practices is left out, unless it is known to be about none. The digests come with their rows.
    """
    if not published.exists():
        raise WarehouseError(f"{published}: there is no such file yet; `vetl run` makes it")
    if target.exists() and target.samefile(published):
        raise WarehouseError(f"{target}: is the published file; write to another")
    refuse_foreign(target, *SCHEMAS)
    try:
        with draft_for(target) as draft:
            rows = _copied(published, draft, practices)
            draft.chmod(target.stat().st_mode & 0o777 if target.exists() else _MODE)
            draft.replace(target)
            return rows
    except OSError as error:
        raise WarehouseError(cannot_write(target, error)) from None
    except duckdb.Error as error:
        raise as_warehouse_error(error, target, "cannot be written") from None


def _copied(published: Path, draft: Path, practices: Sequence[str]) -> dict[str, int]:
    with closing(duckdb.connect()) as connection:
        connection.execute(f"attach {literal(str(published))} as source (read_only)")
        connection.execute(f"attach {literal(str(draft))} as target (storage_version {literal(STORAGE_VERSION)})")
        for schema in SCHEMAS:
            connection.execute(f"create schema target.{schema}")
        set_mark(connection, MARTS)
        rows: dict[str, int] = {}
        for table, has_practice, statement in _tables(connection):
            shown = rows_of(table, practices, has_practice=has_practice)
            if shown is None:
                continue
            if table == DIGESTS:  # with those of the tables of no practice, which the file has whole
                shown += (
                    f" or (practice_id is null and mart in ({', '.join(map(literal, sorted(OF_NO_PRACTICE)))}))"
                )
            name = table_of(table)
            connection.execute(statement.replace("CREATE TABLE ", "CREATE TABLE target.", 1))
            connection.execute(f"insert into target.{name} select * from source.{name} where {shown}")
            _comments(connection, table)
            rows[table] = connection.execute(f"select count(*) from target.{name}").fetchall()[0][0]
        connection.execute("detach target")
    return rows


def _tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, bool, str]]:
    """Return the tables of the source: the name, whether it has a practice, and the statement that makes it."""
    return connection.execute(
        "select table_name, bool_or(column_name = 'practice_id'), any_value(sql)"
        " from duckdb_tables() join duckdb_columns() using (database_name, schema_name, table_name)"
        " where database_name = 'source' and schema_name in ('marts', 'meta')"
        " group by table_name order by table_name"
    ).fetchall()


def _comments(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    chosen = {"table": table}
    for (text,) in connection.execute(
        "select comment from duckdb_tables() where database_name = 'source' and schema_name in ('marts', 'meta')"
        " and table_name = $table and comment is not null",
        chosen,
    ).fetchall():
        connection.execute(f"comment on table target.{table_of(table)} is {literal(text)}")
    for column, text in connection.execute(
        "select column_name, comment from duckdb_columns() where database_name = 'source'"
        " and schema_name in ('marts', 'meta') and table_name = $table and comment is not null",
        chosen,
    ).fetchall():
        connection.execute(f"comment on column target.{table_of(table)}.{quoted(column)} is {literal(text)}")
