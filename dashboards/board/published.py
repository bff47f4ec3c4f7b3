"""The published file: attached for reading only, and attached again as soon as another file replaces it."""

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import streamlit as st
from vetl.core.errors import WarehouseError
from vetl.core.published_file import SCHEMAS
from vetl.figures.ask import MetricAnswer, MetricQuestion, Values, answered, side_by_side
from vetl.figures.catalogue import Metric, metrics_of
from vetl.publishing.opened import attach_hidden, show
from vetl.publishing.statements import QueryResult
from vetl.store.connection import literal

from board.words import plain

Identity = tuple[int, int, int, int]
"""Device, inode, size and time of change: another file under the same name has another identity."""

REBUILD = "`vetl build --full-refresh` makes it again."
_CONNECTIONS = 16
"""Connections that are kept: one for each set of practices that a user may see."""

_DAY_NS = 24 * 60 * 60 * 10**9
_NAMED = re.compile(r'(?:Table with name|column) "?([\w.]+)"?')


class UnreadableError(Exception):
    """Raised if the file cannot be shown. The message is one line for the user, with the remedy."""


class MissingError(Exception):
    """Raised if an older vetl published this file and it lacks a mart or a column. The message is one line."""


@dataclass(frozen=True, slots=True)
class Published:
    """One state of the published file. `ask` answers from it, and repeats earlier answers from memory.

    `practices`: the user sees these practices alone, `None` for all.
    """

    path: Path
    identity: Identity
    contacts: Identity | None = None
    practices: tuple[str, ...] | None = None

    @property
    def names_people(self) -> bool:
        """Whether `contacts.duckdb`, beside the file, exists and may be read."""
        return _attached(self).names_people

    def ask(self, sql: str, /, **parameters: Any) -> pl.DataFrame:  # noqa: ANN401 - values of any column
        """Return the rows of a statement; only aggregates and short lists, whatever the length of history.

        Raises:
            MissingError: The file has no such mart or column.
        """
        return _answer(self, sql, parameters)

    def metrics(self) -> Mapping[str, Metric]:
        """Return the metrics of `meta.metrics`, by name.

        Raises:
            MissingError: An older vetl published the file.
        """
        try:
            return metrics_of(self._read, self.path)
        except WarehouseError as older:
            raise MissingError(str(older)) from None

    def metric(self, question: MetricQuestion) -> MetricAnswer:
        """Answer a question as `vetl metric` does.

        Raises:
            WrongUse: The answer would be a wrong kind of number.
            MissingError: An older vetl published the file.
        """
        return answered(self._read, self.metrics(), question)

    def side_by_side(self, names: Sequence[str], question: MetricQuestion) -> Mapping[Any, Values]:
        """Return the values of several metrics, from one pass over each mart.

        Raises:
            MissingError: An older vetl published the file.
        """
        return side_by_side(self._read, self.metrics(), names, question)

    def _read(self, sql: str) -> QueryResult:
        table = self.ask(sql)
        return QueryResult(tuple(table.columns), table.rows())

    def within(self, practices: Sequence[str]) -> list[str]:
        """Return those of the practices that the user sees, for readers that open the file themselves."""
        return [key for key in practices if self.practices is None or key in self.practices]

    def setting(self, name: str, usual: int) -> int:
        """Return a number of `[definitions]` that the file was built with; `usual` if it has none."""
        with suppress(MissingError):
            rows = self.ask(
                "select definition from meta.catalogue where table_name = 'definitions' and column_name = $name",
                name=name,
            )
            if not rows.is_empty() and str(rows.item(0, 0)).isdecimal():
                return int(rows.item(0, 0))
        return usual

    def definitions(self) -> Mapping[tuple[str, str], str]:
        """Return the definition of each column of each mart: from `meta.catalogue`, else from its comments."""
        try:
            rows = self.ask("select table_name, column_name, definition, description from meta.catalogue")
        except MissingError:
            rows = self.ask(
                """select table_name, column_name, comment as definition, comment as description
                   from duckdb_columns() where database_name = 'published' and comment is not null"""
            )
        return {(table, column): text or other for table, column, text, other in rows.iter_rows() if text or other}


def now_published(path: Path, practices: tuple[str, ...] | None = None) -> Published:
    """Return the file as it is now, as the user of these practices sees it; `None` for all practices.

    Raises:
        UnreadableError: There is no file, or it cannot be opened.
    """
    try:
        identity = _identity(path)
    except OSError as error:
        raise UnreadableError(f"{plain(path)}: {error.strerror}; `vetl run` makes it.") from None
    try:
        contacts = _identity(_contacts_of(path))
    except OSError:
        contacts = None
    return Published(path, identity, contacts, practices)


def age_in_days(file: Published) -> int:
    """Return the whole days since the file was published."""
    return int((time.time_ns() - file.identity[3]) // _DAY_NS)


def _identity(path: Path) -> Identity:
    stat = path.stat()
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _contacts_of(published: Path) -> Path:
    """Return names and numbers of the clients to call back, if `[warehouse] contacts` writes them."""
    return published.resolve().with_name("contacts.duckdb")


@dataclass(frozen=True, slots=True)
class _Attached:
    """A connection in memory with the file attached. `catalog` has the schema `marts` that pages read."""

    connection: duckdb.DuckDBPyConnection
    catalog: str
    names_people: bool


@st.cache_resource(max_entries=_CONNECTIONS, show_spinner=False)
def _attached(file: Published) -> _Attached:
    """Return the connection for this file and its user's practices.

    A `connect` to the file would see the old file for ever. A user of some practices gets a connection of their
    own: its schemas `marts`, `meta` and `contacts` are views with the rows of these practices alone, and the files
    have names that nobody can guess, so that no statement of a page reads past the views.
    """
    connection = duckdb.connect()
    try:
        _attach(connection, file.path, "published", {name: name for name in SCHEMAS}, file.practices)
    except duckdb.Error as error:
        raise UnreadableError(plain(f"{file.path}: {str(error).splitlines()[0]}")) from None
    names_people = False
    if file.contacts:
        # The file may belong to another group, or be gone since the check: then only names are missing.
        with suppress(duckdb.Error):
            _attach(connection, _contacts_of(file.path), "contacts", {"main": "contacts"}, file.practices)
            names_people = True
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return _Attached(connection, "published" if file.practices is None else "memory", names_people)


def _attach(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    name: str,
    schemas: Mapping[str, str],
    practices: tuple[str, ...] | None,
) -> None:
    """Attach a file under its name, or under none that can be guessed and behind views of these practices."""
    if practices is None:
        connection.execute(f"attach {literal(str(path))} as {name} (read_only)")
    else:
        hidden = attach_hidden(connection, str(path))
        for source, schema in schemas.items():
            show(connection, hidden, source, schema, practices)


@st.cache_data(max_entries=500, show_spinner=False)
def _answer(file: Published, sql: str, parameters: dict[str, Any]) -> pl.DataFrame:
    attached = _attached(file)
    cursor = attached.connection.cursor()
    try:
        cursor.execute(f"use {attached.catalog}")
        return cursor.sql(sql, params=parameters).pl()
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        line = str(error).splitlines()[0]
        named = _NAMED.search(line)
        lacks = f"`{named[1]}`" if named else plain(line)
        raise MissingError(f"This file has no {lacks}: an older vetl published it. {REBUILD}") from None
    finally:
        cursor.close()
