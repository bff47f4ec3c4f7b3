"""Forget clients in an open warehouse, and recognise those who were forgotten."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import duckdb

from vetl.store.forget import Forgotten, forget
from vetl.store.mentions import Mentions
from vetl.store.person import Person, look_up
from vetl.store.pseudonyms import Pseudonyms
from vetl.store.tables import RawTable

Writing = Callable[[], AbstractContextManager[object]]
"""Begin a transaction when no other thread uses the warehouse."""


class _UndoneError(Exception):
    """Roll back a rehearsal."""


class People:
    """Forget clients in one file, for `vetl forget`."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        tables: Sequence[RawTable],
        writing: Writing,
        changed: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._tables = tables
        self._writing = writing
        self._changed = changed
        self.pseudonyms = Pseudonyms.load(connection)
        """The pseudonyms under which new rows of forgotten people are stored."""

    def look_up(self, practice_id: str, client_id: str) -> Person:
        """Return the values by which a client is found.

        Raises:
            WrongUse: no row names this client.
        """
        with self._writing():
            return look_up(self._connection, self._tables, practice_id, client_id)

    def rehearse(self, person: Person) -> tuple[Mentions, Mapping[str, int]]:
        """Forget a person and undo it; return the person's mentions and the number of their rows by table."""
        rehearsed: list[tuple[Mentions, Mapping[str, int]]] = []
        try:
            with self._writing():
                rows = forget(self._connection, self._tables, person).rows
                mentions = Pseudonyms.load(self._connection).by_practice[person.practice_id]
                rehearsed.append((mentions, rows))
                raise _UndoneError  # noqa: TRY301 - it rolls the transaction back
        except _UndoneError:
            return rehearsed[0]

    def forget(self, person: Person) -> Forgotten:
        """Replace a person by pseudonyms, in one transaction."""
        with self._writing():
            forgotten = forget(self._connection, self._tables, person)
        self.pseudonyms = Pseudonyms.load(self._connection)
        self._changed()
        return forgotten
