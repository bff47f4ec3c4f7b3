"""The private warehouse file: the one writer's door to it."""

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

from pipelines import bundled
from pipelines.core.endpoint import Endpoint
from pipelines.core.errors import ConfigurationError
from pipelines.core.pages import Changes
from pipelines.core.practice import Practice
from pipelines.core.steps import Question, Save
from pipelines.endpoints.received import MESSAGES, RECEIVED
from pipelines.loading import received
from pipelines.loading.connection import attach, limit_memory
from pipelines.loading.context import Commit
from pipelines.loading.control import (
    attempts,
    lookups,
    poll_schedule,
    practices,
    quarantine,
    questions,
    state,
)
from pipelines.loading.control.list_status import ListStatus
from pipelines.loading.control.phone_numbers import note_phone_numbers
from pipelines.loading.control.status import Status
from pipelines.loading.failures import as_vetl_errors
from pipelines.loading.migrate import FIRST, migrate
from pipelines.loading.people import People
from pipelines.loading.prepare import prepared
from pipelines.loading.store import Work, keep, store
from pipelines.loading.tables import RawTable, ensure

MEMORY_FREED_AFTER = 50_000
"""Rows written after which the memory limit is set anew, which takes 2 ms."""


class Warehouse:
    """An open warehouse. A context manager; one caller at a time is served, from whatever thread."""

    def __init__(self, path: Path, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, RawTable]) -> None:
        self._path = path
        self._connection = connection
        self._tables = tables
        self._turn = RLock()
        self._zones = practices.zones(connection)
        self._held = quarantine.lists_with_rows(connection)
        self._beginnings = state.Beginnings(connection)
        self._status = Status(connection, tuple(tables.values()))
        self._written = 0
        self.people = People(connection, tuple(tables.values()), self._writing, self._people_changed)
        """The forgotten: whom to recognise, and who is next."""

    @classmethod
    def open(
        cls,
        path: Path,
        endpoints: Sequence[Endpoint],
        *,
        lock_wait_seconds: float,
        wait: Callable[[float], None] = time.sleep,
    ) -> Self:
        """Open the file, made and migrated where needed, with the tables of these endpoints and `RECEIVED`.

        Raises:
            WarehouseBusy: another process holds it, and went on for `lock_wait_seconds`.
            WarehouseError: it cannot be opened, or is newer than this vetl.
        """
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
                    lookups.ensure_mentions(connection, watched)
                warehouse = cls(path, connection, tables)
                if migrated and FIRST not in migrated:
                    # `vetl status` reads what lies beside the file, which an older vetl has written.
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
        """Let the file go."""
        with self._reading(), closing(self._connection):
            self._status.write_rest(self._path)

    def set_practices(self, configured: Sequence[Practice]) -> None:
        """Keep the practices as configured; where a time zone was corrected, derive anew what follows from it."""
        with self._writing():
            practices.record_practices(self._connection, configured, tuple(self._tables.values()))
        self._status.practices_changed()
        self._zones = practices.zones(self._connection)

    def note_phone_numbers(self, regions: Mapping[str, str]) -> int:
        """Read the spellings of telephone numbers that are not known yet; returns how many."""
        with self._writing():
            return note_phone_numbers(self._connection, regions)

    def start_run(self, run_id: str, started_at: datetime, command: str) -> None:
        """A command begins to read the source."""
        with self._writing():
            state.start_run(self._connection, run_id, started_at, command)
        self._status.run_changed()

    def finish_run(
        self, run_id: str, *, source_clock: datetime | None, exit_code: int, summary: Mapping[str, Any]
    ) -> None:
        """It is done; "now" of the marts is the `source_clock` of the last run that reached the source."""
        with self._writing():
            state.finish_run(self._connection, run_id, source_clock, exit_code, summary)
            attempts.keep_attempts(self._connection, run_id, summary.get("results", ()))
        self._status.run_changed()
        self.write_status()

    def last_clock(self) -> datetime | None:
        """The platform's clock at the last run that reached it."""
        with self._reading():
            return state.last_clock(self._connection)

    def commit(self, run_id: str, practice_id: str, endpoint: Endpoint, work: Sequence[Save]) -> Changes:
        """The work of one list, see `commit_all`."""
        return self.commit_all(run_id, [(practice_id, endpoint, work)])[0]

    def prepared(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> list[Save]:
        """The same saves with their values read, see `prepare.prepared`."""
        return prepared(practice_id, self._tables[endpoint.name], saves)

    def commit_all(self, run_id: str, works: Sequence[Work]) -> list[Changes]:
        """Data, certificates and cursors of these lists in one transaction: all of it is kept, or nothing.

        Raises:
            ConfigurationError: a practice was never set.
            ContractBroken: a frame holds calls of days that were not asked for.
            WarehouseError: the disk is full or fails.
        """
        for practice_id, _, _ in works:
            if practice_id not in self._zones:
                raise ConfigurationError(f"practice {practice_id} is not configured")
        with self._writing():
            changes = store(works, partial(self._context, run_id))
            keep(self._connection, run_id, works)
        self._limit_memory(changes)
        for practice_id, endpoint, _ in works:
            self._beginnings.changed(practice_id, endpoint.name)
            self._status.changed(practice_id, endpoint.name)
        self.write_status(at_once=False)
        return changes

    def take_in(self, run_id: str, intakes: Sequence[received.Intake]) -> Changes:
        """What was received, in one transaction. A practice that is not configured is as welcome.

        Raises:
            WarehouseError: the disk is full or fails.
        """
        with self._writing():
            taken = [
                received.take_in(self._context(run_id, item.endpoint, {item.practice_id: item.read_at}), item)
                for item in intakes
            ]
        for item in intakes:
            self._status.changed(item.practice_id, item.endpoint.name)
        self.write_status(at_once=False)
        return sum(taken, Changes())

    def due_messages(self, practice_id: str, now: datetime, limit: int) -> list[str]:
        """Messages to get by id, see `poll_schedule.due_messages`."""
        with self._reading():
            return poll_schedule.due_messages(self._context("", MESSAGES, {}), practice_id, now, limit)

    def due_requests(self, practice_id: str, endpoint: Endpoint, now: datetime, limit: int) -> list[str]:
        """Outreach requests to get by id, see `poll_schedule.due_requests`."""
        with self._reading():
            return poll_schedule.due_requests(self._context("", endpoint, {}), practice_id, now, limit)

    def keep_looks(self, practice_id: str, endpoint: Endpoint, ids: Sequence[str], now: datetime) -> None:
        """These were asked for by id, so that they are not asked for again at once, whatever the answer was."""
        with self._writing():
            lookups.keep_looks(self._context("", endpoint, {}), practice_id, ids, now)

    def answer(self, practice_id: str, endpoint: Endpoint, question: Question) -> Any:  # noqa: ANN401
        """The answer to one question, see `answer_all`."""
        return self.answer_all([(practice_id, endpoint, question)])[0]

    def answer_all(self, asked: Sequence[questions.Asked]) -> list[Any]:
        """The answers to strategies' questions (`steps.Question`), in order; they see what is committed."""
        with self._reading():
            return questions.answers(self._connection, self._tables, asked)

    def counts(self, practices: Sequence[str], endpoint: Endpoint) -> dict[str, tuple[int, int]]:
        """By practice: rows of a list that the source has, as far as vetl knows, and rows in quarantine."""
        with self._reading():
            rows = questions.row_counts(self._connection, self._tables[endpoint.name], practices)
            held = quarantine.held_counts(self._connection, endpoint.name)
        return {name: (rows.get(name, (0, 0))[0], held.get(name, 0)) for name in practices}

    def cursor(self, practice_id: str, endpoint_name: str) -> dict[str, Any] | None:
        """The endpoint's cursor; `None` before the first."""
        with self._reading():
            return self._beginnings.cursor(practice_id, endpoint_name)

    def capabilities(self, practice_id: str, endpoint_name: str) -> dict[str, Any]:
        """What the source was seen to do on this list, by name."""
        with self._reading():
            return self._beginnings.capabilities(practice_id, endpoint_name)

    def status(self) -> list[ListStatus]:
        """Return the status of every list of every practice."""
        with self._reading():
            return self._status.lists()

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def held(self) -> list[quarantine.Held]:
        """The rows in quarantine."""
        with self._reading():
            return quarantine.held(self._connection)

    def acknowledge(self, rows: Sequence[quarantine.Held], reason: str) -> None:
        """Mark rows in quarantine as known, see `quarantine.acknowledge`."""
        with self._writing():
            quarantine.acknowledge(self._connection, rows, reason)
        for row in rows:
            self._status.changed(row.practice_id, row.endpoint)

    def _context(self, run_id: str, endpoint: Endpoint, clocks: Mapping[str, datetime]) -> Commit:
        """Zones matter to calls alone, and those are refused for a practice that has none."""
        return Commit(
            connection=self._connection,
            run_id=run_id,
            table=self._tables[endpoint.name],
            zones={practice_id: self._zones.get(practice_id, "UTC") for practice_id in clocks},
            clocks=clocks,
            held=self._held,
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
                limit_memory(self._connection)
                self._written = 0

    @contextmanager
    def _reading(self) -> Generator[None]:
        with self._turn, as_vetl_errors(self._path):
            yield

    @contextmanager
    def _writing(self) -> Generator[None]:
        with self._reading(), transaction(self._connection):
            yield


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Generator[None]:
    """All or nothing."""
    connection.begin()
    try:
        yield
        connection.commit()
    except BaseException:
        with suppress(duckdb.Error):  # a commit that failed on a full disk has ended it; its own error is told
            connection.rollback()
        raise
