# ruff: noqa: S608 - names come from declarations and are quoted; values are parameters
"""The analysts' file: the marts alone, personal data masked, replaced in one rename."""

import os
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb

from pipelines.errors import WarehouseBusy, WarehouseError
from pipelines.loading.connection import first_line, literal, quoted

STORAGE_VERSION = "v1.0.0"
"""So that BI tools with an older DuckDB can open the file."""

_STALE_SECONDS = 24 * 3600
_HELD = ("Could not set lock", "Unique file handle conflict")


@dataclass(frozen=True, slots=True)
class Published:
    """What was published: rows by table, columns that were masked, marts left out as nobody classified them."""

    path: Path
    tables: Mapping[str, int]
    masked: tuple[str, ...]
    left_out: tuple[str, ...]


def publish(
    private: Path, published: Path, *, pii: Mapping[str, frozenset[str]], pii_key: str | None
) -> Published:
    """Copy the marts of the private file into a new one, check it, and put it in the place of the old.

    `pii` names the personal columns of every mart: without a key they are null, with one a keyed hash. Who has
    the old file open goes on reading it. On failure the old file stays as it was and nothing is left behind.

    Raises:
        WarehouseBusy: another process writes to the private file.
        WarehouseError: there is nothing to publish, or a file cannot be read or written.
    """
    try:
        published.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(published)
        draft = published.with_name(f".{published.name}.{os.getpid()}.{time.monotonic_ns()}")
        try:
            result = _write(private, draft, published, pii, pii_key)
            _check(draft, result)
            _sync_to_disk(draft)
            draft.replace(published)
            _sync_to_disk(published.parent)
        finally:
            _remove(draft)
    except OSError as error:
        raise WarehouseError(f"{published}: cannot be written: {error.strerror}") from None
    except duckdb.Error as error:
        if any(sign in str(error) for sign in _HELD):
            raise WarehouseBusy(f"{private}: another process writes to it; try again when it is done") from None
        raise WarehouseError(f"{published}: cannot be published: {_safe(error)}") from None
    return result


def _write(
    private: Path, draft: Path, published: Path, pii: Mapping[str, frozenset[str]], key: str | None
) -> Published:
    with closing(duckdb.connect()) as connection:
        connection.execute(f"attach {literal(str(private))} as source (read_only)")
        marts = _marts(connection)
        classified = {name: columns for name, columns in marts.items() if name in pii}
        if not classified:
            raise WarehouseError(f"{private}: there is no mart to publish; run `vetl build`")
        connection.execute(f"attach {literal(str(draft))} as target (storage_version {literal(STORAGE_VERSION)})")
        connection.execute("create schema target.marts")
        rows: dict[str, int] = {}
        masked: list[str] = []
        for name, columns in classified.items():
            masked += [f"{name}.{column}" for column in columns if column in pii[name]]
            rows[name] = _copy(connection, name, columns, pii[name], key)
        connection.execute("detach target")
    left_out = tuple(sorted(marts.keys() - classified.keys()))
    return Published(published, rows, tuple(masked), left_out)


def _marts(connection: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """The columns and types of every mart, by name."""
    marts: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "select table_name, column_name, data_type from duckdb_columns()"
        " where database_name = 'source' and schema_name = 'marts' order by table_name, column_index"
    ).fetchall():
        marts.setdefault(table, {})[column] = kind
    return marts


def _copy(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    columns: Mapping[str, str],
    personal: frozenset[str],
    key: str | None,
) -> int:
    unknown = sorted(personal - columns.keys())
    if unknown:
        raise WarehouseError(f"marts.{name} has no column {unknown[0]}, which is classified as personal")
    shown = ", ".join(_shown(column, kind, column in personal, bool(key)) for column, kind in columns.items())
    parameters = {"key": key} if key and any(columns[column] == "VARCHAR" for column in personal) else {}
    connection.execute(
        f"create table target.marts.{quoted(name)} as select {shown} from source.marts.{quoted(name)}", parameters
    )
    _copy_comments(connection, name)
    return _count(connection, f"source.marts.{quoted(name)}")


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    return connection.execute(f"select count(*) from {table}").fetchall()[0][0]


def _shown(column: str, kind: str, personal: bool, keyed: bool) -> str:  # noqa: FBT001 - read at one place, beside it
    name = quoted(column)
    if not personal:
        return name
    if keyed and kind == "VARCHAR":
        # Twice, as in HMAC: what one hash tells must not help to extend it.
        return f"sha256($key || sha256($key || {name})) as {name}"
    return f"null::{kind} as {name}"


def _copy_comments(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """What the marts say of themselves and their columns goes with them."""
    target = f"target.marts.{quoted(name)}"
    for (comment,) in connection.execute(
        "select comment from duckdb_tables() where database_name = 'source' and schema_name = 'marts'"
        " and table_name = $name and comment is not null"
        " union all select comment from duckdb_views() where database_name = 'source' and schema_name = 'marts'"
        " and view_name = $name and comment is not null",
        {"name": name},
    ).fetchall():
        connection.execute(f"comment on table {target} is {literal(comment)}")
    for column, comment in connection.execute(
        "select column_name, comment from duckdb_columns() where database_name = 'source'"
        " and schema_name = 'marts' and table_name = ? and comment is not null",
        [name],
    ).fetchall():
        connection.execute(f"comment on column {target}.{quoted(column)} is {literal(comment)}")


def _check(draft: Path, result: Published) -> None:
    """Open the new file afresh and see that all is in it."""
    with closing(duckdb.connect()) as connection:
        connection.execute(f"attach {literal(str(draft))} as target (read_only)")
        found = {
            name: _count(connection, f"target.marts.{quoted(name)}")
            for (name,) in connection.execute(
                "select table_name from duckdb_tables() where database_name = 'target'"
            ).fetchall()
        }
    if found != result.tables:
        raise WarehouseError(f"{result.path}: the new file does not hold what was written; the old one stays")


def _sync_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(draft: Path) -> None:
    for file in (draft, draft.with_name(f"{draft.name}.wal")):
        file.unlink(missing_ok=True)


def _remove_stale(published: Path) -> None:
    """Drafts of a publisher that was killed; one of a publisher at work is younger."""
    for file in published.parent.glob(f".{published.name}.*"):
        if time.time() - file.stat().st_mtime > _STALE_SECONDS:
            file.unlink(missing_ok=True)


def _safe(error: duckdb.Error) -> str:
    """DuckDB quotes values in its messages about data."""
    return type(error).__name__ if isinstance(error, duckdb.DataError) else first_line(error)
