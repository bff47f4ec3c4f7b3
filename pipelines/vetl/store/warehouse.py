"""The private warehouse file, as the only process that may write sees it."""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

import duckdb

from vetl import bundled
from vetl.core.endpoint import Endpoint
from vetl.core.errors import ConfigurationError
from vetl.core.list_read import Practice
from vetl.core.pages import Changes
from vetl.core.steps import Save
from vetl.endpoints.received import MESSAGES, RECEIVED
from vetl.store import deliveries
from vetl.store.connection import MEMORY_FOR_ROWS, as_vetl_errors, attach, limit_memory
from vetl.store.context import Commit
from vetl.store.control import answers, bad_rows, builds, configured_practices, lookups, state
from vetl.store.control.phone_numbers import note_phone_numbers
from vetl.store.control.status_rows import Status
from vetl.store.forgotten import People
from vetl.store.notes import ListStatus
from vetl.store.saving import Work, keep, prepared, store
from vetl.store.tables import FIRST, RawTable, ensure, migrate

MEMORY_FREED_AFTER = 50_000
"""Written rows after which the memory limit is updated, which takes 2 ms."""


class Warehouse:
    """An open warehouse, as a context manager. Threads may share it; it serves them one at a time."""

    def __init__(self, path: Path, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, RawTable]) -> None:
        self._path = path
        self._connection = connection
        self._tables = tables
        self._turn = RLock()
        self._zones = configured_practices.zones(connection)
        self._quarantined_lists = bad_rows.lists_with_rows(connection)
        self._beginnings = state.Beginnings(connection)
        self._status = Status(connection, tuple(tables.values()))
        self._written = 0
        self.people = People(connection, tuple(tables.values()), self.writing, self._people_changed)
        """The clients who were forgotten, and the commands that forget a client."""

    @classmethod
    def open(
        cls,
        path: Path,
        endpoints: Sequence[Endpoint],
        *,
        lock_wait_seconds: float,
        wait: Callable[[float], None] = time.sleep,
    ) -> Self:
        """Open the file; make or migrate it if necessary, with the tables of these endpoints and of `RECEIVED`."""
        connection = attach(path, lock_wait_seconds=lock_wait_seconds, wait=wait)
        try:
            with as_vetl_errors(path):
                migrated = migrate(connection, bundled.migrations())
                watched = lookups.mentions_of(endpoints)
                tables = {
                    endpoint.name: RawTable.of(endpoint, watched.get(endpoint.table, ()))
                    for endpoint in (*endpoints, *RECEIVED)
                }
                with transaction(connection):
                    ensure(connection, tables.values())
                limit_memory(connection, MEMORY_FOR_ROWS)
                warehouse = cls(path, connection, tables)
                if migrated and FIRST not in migrated:
                    # `vetl status` reads the snapshot beside the file, which names the last migration.
                    warehouse.write_status()
                return warehouse
        except BaseException:
            connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write the last snapshot and close the file."""
        with self._reading(), closing(self._connection):
            self._status.write_rest(self._path)

    def set_practices(self, configured: Sequence[Practice]) -> None:
        """Store the configured practices; if a time zone was corrected, recompute the times that depend on it."""
        with self.writing():
            configured_practices.record_practices(self._connection, configured, tuple(self._tables.values()))
        self._status.practices_changed()
        self._zones = configured_practices.zones(self._connection)

    def note_phone_numbers(self, regions: Mapping[str, str]) -> int:
        """Parse new spellings of telephone numbers; return their number."""
        with self.writing():
            return note_phone_numbers(self._connection, regions)

    def begin_build(self, fingerprint: str, *, full_refresh: bool) -> tuple[bool, frozenset[str] | None]:
        """Record that a build of the marts begins, see `builds.begin`."""
        with self.writing():
            return builds.begin(self._connection, fingerprint, full_refresh=full_refresh)

    def start_run(self, run_id: str, started_at: datetime, command: str) -> None:
        """Record that a command begins to read the source."""
        with self.writing():
            state.start_run(self._connection, run_id, started_at, command)
        self._status.run_changed()

    def finish_run(
        self, run_id: str, *, source_clock: datetime | None, exit_code: int, summary: Mapping[str, Any]
    ) -> None:
        """Record the end of a run. The last `source_clock` is the "now" of the marts."""
        with self.writing():
            state.finish_run(self._connection, run_id, source_clock, exit_code, summary)
            state.keep_attempts(self._connection, run_id, summary.get("results", ()))
        self._status.run_changed()
        self.write_status()

    def last_clock(self) -> datetime | None:
        """Return the platform's clock at the last run that reached it."""
        with self._reading():
            return state.last_clock(self._connection)

    def commit(self, run_id: str, practice_id: str, endpoint: Endpoint, work: Sequence[Save]) -> Changes:
        """Commit the work of one list, see `commit_all`."""
        return self.commit_all(run_id, [(practice_id, endpoint, work)])[0]

    def prepared(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> list[Save]:
        """Return the saves with parsed values, see `saving.prepared`."""
        return prepared(practice_id, self._tables[endpoint.name], saves)

    def commit_all(self, run_id: str, works: Sequence[Work]) -> list[Changes]:
        """Commit data, certificates and cursors of these lists in one transaction.

        Raises:
            ConfigurationError: a practice is not configured.
            ContractBroken: a frame holds calls of days that were not requested.
        """
        for practice_id, _, _ in works:
            if practice_id not in self._zones:
                raise ConfigurationError(f"practice {practice_id} is not configured")
        with self.writing():
            changes = store(works, partial(self._context, run_id))
            keep(self._connection, run_id, works)
        self._limit_memory(changes)
        for practice_id, endpoint, _ in works:
            self._beginnings.changed(practice_id, endpoint.name)
            self._status.changed(practice_id, endpoint.name)
        self.write_status(at_once=False)
        return changes

    def take_in(self, run_id: str, intakes: Sequence[deliveries.Intake]) -> Changes:
        """Store received deliveries in one transaction, also those of practices that are not configured."""
        with self.writing():
            taken = [
                deliveries.take_in(self._context(run_id, item.endpoint, {item.practice_id: item.read_at}), item)
                for item in intakes
            ]
        for item in intakes:
            self._status.changed(item.practice_id, item.endpoint.name)
        self.write_status(at_once=False)
        return sum(taken, Changes())

    def due_messages(self, practice_id: str, now: datetime, limit: int) -> list[str]:
        """Return messages to get by id, see `lookups.due_messages`."""
        with self._reading():
            return lookups.due_messages(self._context("", MESSAGES, {}), practice_id, now, limit)

    def due_requests(self, practice_id: str, endpoint: Endpoint, now: datetime, limit: int) -> list[str]:
        """Return outreach requests to get by id, see `lookups.due_requests`."""
        with self._reading():
            return lookups.due_requests(self._context("", endpoint, {}), practice_id, now, limit)

    def keep_looks(self, practice_id: str, endpoint: Endpoint, ids: Sequence[str], now: datetime) -> None:
        """Record ids that were requested, whatever the answer, so that they are not requested again at once."""
        with self.writing():
            lookups.keep_looks(self._context("", endpoint, {}), practice_id, ids, now)

    def answer_all(self, list_questions: Sequence[answers.ListQuestion]) -> list[Any]:
        """Answer strategies' questions (`steps.Question`) from committed data, in order."""
        with self._reading():
            return answers.answers(self._connection, self._tables, list_questions)

    def counts(self, practices: Sequence[str], endpoint: Endpoint) -> dict[str, tuple[int, int]]:
        """Return by practice the rows of a list that are not deleted, and its rows in quarantine."""
        with self._reading():
            rows = answers.row_counts(self._connection, self._tables[endpoint.name], practices)
            quarantined = bad_rows.quarantined_counts(self._connection, endpoint.name)
        return {name: (rows.get(name, (0, 0))[0], quarantined.get(name, 0)) for name in practices}

    def cursor(self, practice_id: str, endpoint_name: str) -> dict[str, Any] | None:
        """Return the endpoint's cursor, or `None` before the first sync."""
        with self._reading():
            return self._beginnings.cursor(practice_id, endpoint_name)

    def capabilities(self, practice_id: str, endpoint_name: str) -> dict[str, Any]:
        """Return the observed capabilities of the source on this list, by name."""
        with self._reading():
            return self._beginnings.capabilities(practice_id, endpoint_name)

    def status(self) -> list[ListStatus]:
        """Return the status of every list of every practice."""
        with self._reading():
            return self._status.lists()

    @property
    def path(self) -> Path:
        """Return the path of the private file."""
        return self._path

    def quarantined_rows(self) -> list[bad_rows.QuarantinedRow]:
        """Return the rows in quarantine."""
        with self._reading():
            return bad_rows.quarantined_rows(self._connection)

    def acknowledge(self, rows: Sequence[bad_rows.QuarantinedRow], reason: str) -> None:
        """Mark rows in quarantine as known, see `bad_rows.acknowledge`."""
        with self.writing():
            bad_rows.acknowledge(self._connection, rows, reason)
        for row in rows:
            self._status.changed(row.practice_id, row.endpoint)
        self.write_status()

    def _context(self, run_id: str, endpoint: Endpoint, clocks: Mapping[str, datetime]) -> Commit:
        """Return the context of a commit. Only calls need a zone; without one they are refused."""
        return Commit(
            connection=self._connection,
            run_id=run_id,
            table=self._tables[endpoint.name],
            zones={practice_id: self._zones.get(practice_id, "UTC") for practice_id in clocks},
            clocks=clocks,
            quarantined_lists=self._quarantined_lists,
            pseudonyms=self.people.pseudonyms,
        )

    def write_status(self, *, at_once: bool = True) -> None:
        """Write the snapshot that `vetl status` reads; without `at_once` only if it is due."""
        with self._reading():
            self._status.write(self._path, at_once=at_once)

    def _people_changed(self) -> None:
        self._status.practices_changed()
        self.write_status()

    def _limit_memory(self, changes: Sequence[Changes]) -> None:
        with self._reading():
            self._written += sum(change.inserted + change.updated for change in changes)
            if self._written >= MEMORY_FREED_AFTER:
                limit_memory(self._connection, MEMORY_FOR_ROWS)
                self._written = 0

    @contextmanager
    def _reading(self) -> Generator[None]:
        with self._turn, as_vetl_errors(self._path):
            yield

    @contextmanager
    def writing(self) -> Generator[duckdb.DuckDBPyConnection]:
        """Yield the connection in a transaction."""
        with self._reading(), transaction(self._connection):
            yield self._connection


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Generator[None]:
    """Commit all statements of the block, or none of them."""
    connection.begin()
    try:
        yield
        connection.commit()
    except BaseException:
        with suppress(duckdb.Error):  # a commit that failed on a full disk has ended the transaction already
            connection.rollback()
        raise
