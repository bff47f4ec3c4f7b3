"""Copy the tables of a published file into a Postgres database, all of a publication in one transaction.

The rows of a changed table are loaded beside it and then replace those of the table, which stays: its grants and
the views of readers stay too, and readers see the old rows until the end. A table changed if the digests that
`vetl verify` recomputes differ from those that were noted with the last copy. `vetl status` says how the copy
went.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from vetl.addons.postgres.settings import PublishSettings
from vetl.core.errors import ConfigurationError, VetlError
from vetl.core.published_file import DIGESTS, META, SCHEMAS
from vetl.hooks import Problem, StatusPart
from vetl.publishing.marts import Columns, marts_of, table_of
from vetl.publishing.opened import opened
from vetl.settings import Settings
from vetl.store.connection import Connection, literal, quoted
from vetl.store.notes import read_note, write_note

if TYPE_CHECKING:
    from adbc_driver_postgresql.dbapi import Cursor


LOCK_TIMEOUT = "60s"
"""How long a change of columns waits for a reader's query. Rows are replaced without waiting for readers."""

BATCH = 50_000
_NOTED = f"{META}.copied_by_vetl"
_TYPES = {
    "BIGINT": "bigint",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DOUBLE": "double precision",
    "INTEGER": "integer",
    "TIMESTAMP": "timestamp without time zone",
    "TIMESTAMP WITH TIME ZONE": "timestamp with time zone",
}
"""Postgres's types by DuckDB's; columns of other types become text."""

_COLUMNS = """
    select attname, format_type(atttypid, atttypmod) from pg_attribute
    where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum
"""
_VIEWS = """
    with recursive views as (
        select rules.ev_class as view, 1 as depth from pg_depend as uses
        join pg_rewrite as rules on rules.oid = uses.objid
        where uses.classid = 'pg_rewrite'::regclass and uses.refobjid = to_regclass($1)
              and rules.ev_class <> uses.refobjid
        union
        select rules.ev_class, depth + 1 from views join pg_depend as uses on uses.refobjid = view
        join pg_rewrite as rules on rules.oid = uses.objid
        where uses.classid = 'pg_rewrite'::regclass and rules.ev_class <> view
    )
    select view::regclass::text, case relkind when 'm' then 'materialized view' else 'view' end,
           pg_get_viewdef(view), quote_ident(pg_get_userbyid(relowner)),
           (select coalesce(string_agg(format('grant %s on %s to %s', privilege_type, view::regclass,
                case grantee when 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end), '; '), '')
            from aclexplode(relacl) where grantee <> relowner)
    from views join pg_class on oid = view group by view, relkind, relowner, relacl order by max(depth)
"""
"""The views over a table, those over views last, with their definitions, owners and grants."""


class PostgresError(VetlError):
    """Postgres cannot be reached, or refuses a statement."""


@dataclass(frozen=True, slots=True)
class Copied:
    """The number of tables of a publication, and the rows of those that changed."""

    tables: int
    changed: Mapping[str, int]


def copy(published: Path, dsn: str) -> Copied:
    """Copy the tables of the published file that differ from the database's.

    Raise `ConfigurationError` if the extra `postgres` is not installed, `PostgresError` if the database cannot
    be reached or refuses (it then has what it had before).
    """
    with opened(published, None) as file, _transaction(dsn) as cursor:
        for schema in SCHEMAS:
            cursor.execute(f"create schema if not exists {schema}")
        cursor.execute(f"create table if not exists {_NOTED} (name text primary key, digest text not null)")
        cursor.execute("select pg_advisory_xact_lock(hashtext('vetl'))")
        cursor.execute(f"select name, digest from {_NOTED}")
        noted: dict[str, str] = dict(cursor.fetchall())
        tables, digests = marts_of(file), _digests(file)
        tables.pop(DIGESTS, None)  # of the file itself
        changed: dict[str, int] = {}
        for name, columns in tables.items():
            digest = f"{digests.get(name)} {' '.join(f'{column} {kind}' for column, kind in columns.items())}"
            if noted.get(name) != digest:
                changed[name] = _replace(cursor, file, name, columns)
                cursor.execute(
                    f"insert into {_NOTED} values ($1, $2) on conflict (name) do update set digest = $2",
                    (name, digest),
                )
        for name in noted.keys() - tables.keys():
            cursor.execute(f"drop table if exists {table_of(name)}")
            cursor.execute(f"delete from {_NOTED} where name = $1", (name,))
    return Copied(len(tables), changed)


@contextmanager
def _transaction(dsn: str) -> Generator["Cursor"]:
    """Connect, and commit at the end; Postgres takes everything back if the block or this process ends early."""
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise ConfigurationError(
            "VETL_PUBLISH__POSTGRES__DSN needs the driver: pip install 'vetl-warehouse[postgres]'"
        ) from None
    try:
        with dbapi.connect(dsn) as connection, connection.cursor() as cursor:
            cursor.execute(f"set lock_timeout = '{LOCK_TIMEOUT}'")
            yield cursor
            connection.commit()
    except dbapi.Error as error:
        raise PostgresError(f"Postgres: {_reason(str(error), dsn)}") from None


def _reason(text: str, dsn: str) -> str:
    """Return the first line of an error, without the driver's prefixes, and never a part of the DSN."""
    line = text.partition("\n")[0]
    for prefix in ("IO: ", "INVALID_ARGUMENT: ", "[libpq] "):
        line = line.removeprefix(prefix)
    password = urlsplit(dsn).password
    if dsn in text or (password and password in text) or "URI" in line or 'missing "="' in line:
        return "the DSN is not one that it reads: postgresql://user:password@host:5432/database"
    return line


def _digests(file: "Connection") -> dict[str, str]:
    rows = file.execute(
        "select mart, md5(string_agg(concat_ws(' ', practice_id, day, rows, digest), ','"
        " order by practice_id, day))"
        f" from {META}.{DIGESTS} group by mart"
    ).fetchall()
    return dict(rows)


def _replace(cursor: "Cursor", file: "Connection", name: str, columns: Columns) -> int:
    """Replace the rows of a table, and its columns if they changed; return the number of rows."""
    # No text of Postgres may have the character 0.
    values = ", ".join(
        quoted(column)
        if kind in _TYPES
        else f"replace(cast({quoted(column)} as varchar), chr(0), '') as {quoted(column)}"
        for column, kind in columns.items()
    )
    beside = f"vetl_{name}"
    rows = file.sql(f"select {values} from {table_of(name)}").to_arrow_reader(BATCH)
    cursor.adbc_ingest(beside, rows, mode="create", temporary=True)
    _shape(cursor, name, columns)
    # The driver loads a boolean as a small number.
    read = ", ".join(
        f"{quoted(column)} <> 0" if kind == "BOOLEAN" else quoted(column) for column, kind in columns.items()
    )
    names = ", ".join(map(quoted, columns))
    cursor.execute(f"delete from {table_of(name)}")
    cursor.execute(f"insert into {table_of(name)} ({names}) select {read} from pg_temp.{quoted(beside)}")
    cursor.execute(f"select count(*) from pg_temp.{quoted(beside)}")
    ((number,),) = cursor.fetchall()
    cursor.execute(f"drop table pg_temp.{quoted(beside)}")
    return number


def _shape(cursor: "Cursor", name: str, columns: Columns) -> None:
    """Give the table these columns. Views over it are made again with their owners and grants if it changes."""
    wanted = {column: _TYPES.get(kind, "text") for column, kind in columns.items()}
    place = table_of(name)
    there = dict(_asked(cursor, _COLUMNS, place))
    if not there:
        cursor.execute(
            f"create table {place} ({', '.join(f'{quoted(one)} {kind}' for one, kind in wanted.items())})"
        )
        return
    gone = [column for column, kind in there.items() if wanted.get(column) != kind]
    new = [column for column, kind in wanted.items() if there.get(column) != kind]
    if not gone and not new:
        return
    views = _asked(cursor, _VIEWS, place)
    for view, kind, *_ in reversed(views):
        cursor.execute(f"drop {kind} {view}")
    changes = [f"drop column {quoted(one)}" for one in gone] + [
        f"add column {quoted(one)} {wanted[one]}" for one in new
    ]
    cursor.execute(f"alter table {place} {', '.join(changes)}")
    for view, kind, definition, owner, grants in views:
        cursor.execute(f"create {kind} {view} as {definition}")
        cursor.execute(f"alter {kind} {view} owner to {owner}")
        for grant in filter(None, grants.split("; ")):
            cursor.execute(grant)


def _asked(cursor: "Cursor", statement: str, place: str) -> list[tuple[Any, ...]]:
    cursor.execute(statement.replace("$1", literal(place)))
    return cursor.fetchall()


NOTE = "postgres"


def copy_if_set(settings: Settings) -> Iterator[str]:
    """Copy the published file, and yield a line; a failure is a line too, because the file is published."""
    dsn = PublishSettings.of(settings).postgres.dsn
    if dsn is None:
        return
    note: dict[str, Any] = {"at": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"}
    try:
        copied = copy(settings.warehouse.published, dsn.get_secret_value())
    except VetlError as error:
        note |= {"error": str(error)}
        yield f"warning: {error}; `vetl publish` tries again"
    else:
        note |= {"error": None, "tables": copied.tables}
        yield _line(copied)
    write_note(settings.warehouse.path, NOTE, note)


def _line(copied: Copied) -> str:
    changed = f"{len(copied.changed)} changed, {sum(copied.changed.values()):,} rows"
    return f"Postgres: {copied.tables} tables, {changed}"


def status_part(settings: Settings) -> StatusPart:
    """Return the last copy; a failed one is a problem, because BI shows older figures than the file."""
    note = read_note(settings.warehouse.path, NOTE)
    if not note or PublishSettings.of(settings).postgres.dsn is None:
        return StatusPart()
    if note["error"]:
        line = f"the copy to Postgres failed at {note['at']}: {note['error']}; `vetl publish` tries again"
        return StatusPart((Problem(1, line),), name=NOTE, content=note)
    return StatusPart(lines=(f"Postgres has {note['tables']} tables since {note['at']}",), name=NOTE, content=note)
