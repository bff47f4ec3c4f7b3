"""The published file: attached for reading only, and seen anew as soon as another takes its place."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import streamlit as st

Identity = tuple[int, int, int, int]
"""Device, inode, size and time of change: another file under the same name has another."""

REBUILD = "`vetl build --full-refresh` makes it anew."
_NAMED = re.compile(r'(?:Table with name|column) "?([\w.]+)"?')


class UnreadableError(Exception):
    """The file cannot be shown. The message is one line for whoever looks, and says what to do."""


class MissingError(Exception):
    """An older vetl published this file: it lacks a mart or a column. The message is one line."""


@dataclass(frozen=True, slots=True)
class Published:
    """One state of the published file. `ask` answers from it, from memory where it was asked before."""

    path: Path
    identity: Identity
    contacts: Identity | None = None

    @property
    def names_people(self) -> bool:
        """Whether `contacts.duckdb`, beside the file, is there and may be read."""
        return "contacts" in _attached(str(self.path), self.identity, self.contacts)[1]

    def ask(self, sql: str, /, **parameters: Any) -> pl.DataFrame:  # noqa: ANN401 - values of any column
        """The rows of a statement; only aggregates and short lists, whatever the length of history.

        Raises:
            MissingError: the file has no such mart or column.
        """
        return _answer(str(self.path), self.identity, self.contacts, sql, parameters)

    def definitions(self) -> Mapping[tuple[str, str], str]:
        """What each column of each mart counts: from `marts.catalogue`, else from the file's own comments."""
        try:
            rows = self.ask("select table_name, column_name, definition, description from marts.catalogue")
        except MissingError:
            rows = self.ask(
                """select table_name, column_name, comment as definition, comment as description
                   from duckdb_columns() where database_name = 'published' and comment is not null"""
            )
        return {(table, column): text or other for table, column, text, other in rows.iter_rows() if text or other}


def now_published(path: Path) -> Published:
    """The file as it is now.

    Raises:
        UnreadableError: it is not there.
    """
    try:
        identity = _identity(path)
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}; `vetl run` makes it.") from None
    try:
        contacts = _identity(_contacts_of(path))
    except OSError:
        contacts = None
    return Published(path, identity, contacts)


def _identity(path: Path) -> Identity:
    stat = path.stat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _contacts_of(published: Path) -> Path:
    """Names and numbers of those to call back, where `[warehouse] contacts` has them written."""
    return published.resolve().with_name("contacts.duckdb")


@st.cache_resource(max_entries=1, show_spinner=False)
def _attached(
    path: str, identity: Identity, contacts: Identity | None
) -> tuple[duckdb.DuckDBPyConnection, tuple[str, ...]]:
    """A connection in memory with the file attached, and the catalogs in it.

    A `connect` to the file would see the old one for ever.
    """
    del identity
    connection = duckdb.connect()
    try:
        connection.execute(f"attach '{_quoted(path)}' as published (read_only)")
    except duckdb.Error as error:
        raise UnreadableError(f"{path}: {str(error).splitlines()[0]}") from None
    if contacts:
        # It may belong to another group, or be gone since it was looked at: nothing but names are missing then.
        with suppress(duckdb.Error):
            connection.execute(f"attach '{_quoted(str(_contacts_of(Path(path))))}' as contacts (read_only)")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    attached = connection.execute("select database_name from duckdb_databases() where not internal").fetchall()
    return connection, tuple(name for (name,) in attached)


def _quoted(path: str) -> str:
    return path.replace("'", "''")


@st.cache_data(max_entries=500, show_spinner=False)
def _answer(
    path: str, identity: Identity, contacts: Identity | None, sql: str, parameters: dict[str, Any]
) -> pl.DataFrame:
    cursor = _attached(path, identity, contacts)[0].cursor()
    try:
        cursor.execute("use published")
        return cursor.sql(sql, params=parameters).pl()
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        line = str(error).splitlines()[0]
        named = _NAMED.search(line)
        lacks = f"`{named[1]}`" if named else line
        raise MissingError(f"This file has no {lacks}: an older vetl published it. {REBUILD}") from None
    finally:
        cursor.close()
