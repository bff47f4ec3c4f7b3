"""The forgotten people of an open warehouse: whom it recognises, who is next, and what is to be mended."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

import duckdb

from pipelines.loading.duplicates import mend
from pipelines.loading.forget import Forgotten, forget, forget_unplaced
from pipelines.loading.mentions import Mentions
from pipelines.loading.person import Person, look_up
from pipelines.loading.pseudonyms import Pseudonyms
from pipelines.loading.tables import RawTable

Writing = Callable[[], AbstractContextManager[None]]
"""A transaction, once it is its turn."""


class _UndoneError(Exception):
    """All was done that would be, and is undone."""


class People:
    """What `vetl forget` does to one file."""

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
        """The forgotten people, who come in under these."""

    def look_up(self, practice_id: str, client_id: str) -> Person:
        """Return the values by which a client is found.

        Raises:
            WrongUse: no row names this client.
        """
        with self._writing():
            return look_up(self._connection, self._tables, practice_id, client_id)

    def rehearse(self, person: Person) -> tuple[Mentions, Mapping[str, int]]:
        """Forget a person and undo it: how they are mentioned, and how many rows of each table are theirs."""
        rehearsed: list[tuple[Mentions, Mapping[str, int]]] = []
        try:
            with self._writing():
                rows = forget(self._connection, self._tables, person).rows
                mentions = Pseudonyms.load(self._connection).by_practice[person.practice_id]
                rehearsed.append((mentions, rows))
                raise _UndoneError  # noqa: TRY301 - the transaction ends by it
        except _UndoneError:
            return rehearsed[0]

    def forget(self, person: Person) -> Forgotten:
        """Put pseudonyms in the place of a person, in one transaction.

        Raises:
            WarehouseError: the disk is full or fails; nothing was changed.
        """
        with self._writing():
            forgotten = forget(self._connection, self._tables, person)
        self.pseudonyms = Pseudonyms.load(self._connection)
        self._changed()
        return forgotten

    def forget_unplaced(self, mentions: Mentions) -> None:
        """Empty quarantined deliveries that name no practice and mention somebody of another file's practice."""
        with self._writing():
            forget_unplaced(self._connection, mentions)

    def mend(self) -> dict[str, int]:
        """Leave one row under each key of raw, see `duplicates.mend`; returns how many did not stay, by table."""
        with self._writing():
            mended = mend(self._connection, self._tables)
        if mended:
            self._changed()
        return mended
