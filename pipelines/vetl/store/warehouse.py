"""The private warehouse file, as the only process that may write sees it.

It has what a sync needs. Other work, such as forgetting, is done by functions that take the open file.
"""

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from secrets import token_hex
from threading import RLock
from typing import Any, Protocol, Self

import duckdb

from vetl.core.endpoint import Endpoint
from vetl.core.errors import WarehouseError
from vetl.core.list_read import Practice
from vetl.core.pages import Changes
from vetl.core.steps import Save
from vetl.core.zones import Times, TimesWithoutOffset
from vetl.endpoints import RECEIVED, REGISTRY
from vetl.store import writer_lock
from vetl.store.commit import Commit, frame_of, registered_frames
from vetl.store.connection import MEMORY_FOR_ROWS, Connection, as_vetl_errors, attach, limit_memory, transaction
from vetl.store.control import bad_rows, state, strategy_questions
from vetl.store.control.status_rows import Status
from vetl.store.instants import add_called_at, local_minutes
from vetl.store.notes import ListStatus
from vetl.store.phone_calls.stored_calls import DETAILS
from vetl.store.pseudonyms import Pseudonyms
from vetl.store.saving import Work, keep, prepared, store
from vetl.store.tables import FIRST, RawTable, ensure, migrate


def zones(connection: Connection) -> dict[str, str]:
    """Return the time zone of each practice by its id."""
    return dict(connection.execute("select id, time_zone from control.practices").fetchall())


def record_practices(connection: Connection, practices: Sequence[Practice], tables: Sequence[RawTable]) -> None:
    """Store the practices as configured. A practice that is no longer configured stays, like its rows.

    The mart of calls shows zone and name and is built by changed days, so a change of either marks all days.
    """
    stored = {row[0]: row for row in connection.execute("from control.practices").fetchall()}
    for practice in practices:
        row = (practice.id, practice.name, practice.time_zone, practice.history_start, practice.group)
        before = stored.get(practice.id)
        if row == before:
            continue
        connection.execute("delete from control.practices where id = ?", [practice.id])
        connection.execute("insert into control.practices values (?, ?, ?, ?, ?)", row)
        if before is None:
            continue
        _, name, zone, *_ = before
        zone_changed = zone != practice.time_zone
        for table in tables:
            if table.endpoint.strategy.has_ids:
                continue
            if zone_changed:
                _rebuild_instants(connection, practice, table)
            if zone_changed or name != practice.name:
                state.note_practice(connection, practice.id, table)


def _rebuild_instants(connection: Connection, practice: Practice, table: RawTable) -> None:
    """Recompute the instants of calls; clear details that contradict the new zone: they are of other calls."""
    for name in (table.raw, table.history):
        _clear_contradicted(connection, practice, name)
        minutes = frame_of(
            connection,
            f"select distinct practice_id, called_at_local, call_date from {name} where practice_id = $practice"
            " order by called_at_local",
            params={"practice": practice.id},
        )
        resolved, _ = add_called_at(minutes, practice.time_zone)
        with registered_frames(connection, resolved=resolved.select("called_at_local", instant="called_at")):
            connection.execute(
                f"update {name} as stored set called_at ="
                " coalesce(date_trunc('minute', stored.created_at), resolved.instant) from resolved"
                " where stored.called_at_local = resolved.called_at_local and stored.practice_id = ?",
                [practice.id],
            )


def _clear_contradicted(connection: Connection, practice: Practice, name: str) -> None:
    """Clear the details of calls whose exact time is at another minute of the practice's clock."""
    exact = frame_of(
        connection,
        f"select distinct practice_id, called_at_local, created_at from {name}"
        " where practice_id = $practice and created_at is not null",
        params={"practice": practice.id},
    )
    minutes = local_minutes(exact["created_at"], exact["practice_id"], {practice.id: practice.time_zone})
    contradicted = exact.filter(minutes != exact["called_at_local"])
    nothing = ", ".join(f"{column} = null" for column in DETAILS)
    with registered_frames(connection, contradicted=contradicted):
        connection.execute(
            f"update {name} as stored set {nothing} from contradicted where stored.practice_id = ?"
            " and stored.created_at = contradicted.created_at"
            " and stored.called_at_local = contradicted.called_at_local",
            [practice.id],
        )


MEMORY_FREED_AFTER = 50_000
"""Written rows after which the memory limit is updated, which takes 2 ms."""


@dataclass(slots=True)
class RunRow:
    """The row of a run in `control.runs`, to which the run adds how it ends."""

    id: str
    exit_code: int = 1
    summary: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source_clock: datetime | None = None
    """The platform's clock. The last one is the "now" of the marts."""


class Warehouse:
    """An open warehouse, as a context manager. Threads may share it; it serves them one at a time."""

    def __init__(self, path: Path, connection: Connection, tables: Mapping[str, RawTable]) -> None:
        self._path = path
        self._connection = connection
        self._turn = RLock()
        self._zones = zones(connection)
        self._quarantined_lists = bad_rows.lists_with_rows(connection)
        self._beginnings = state.Beginnings(connection)
        self._status = Status(connection, tuple(tables.values()))
        self._limit_memory()
        self.tables = tables
        """The raw tables by the names of their lists."""
        self.pseudonyms = Pseudonyms.load(connection)
        """The pseudonyms under which new rows of forgotten people are stored."""
        self.times_without_offset: TimesWithoutOffset | None = None
        """The setting, for rows that no sync reads."""

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
                watched = state.mentions_of(endpoints)
                tables = {
                    endpoint.name: RawTable.of(endpoint, watched.get(endpoint.table, ()))
                    for endpoint in (*endpoints, *RECEIVED)
                }
                with transaction(connection):
                    migrated = migrate(connection)
                    ensure(connection, tables.values())
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write the last snapshot, if DuckDB can still read, and close the file."""
        with self.reading(), closing(self._connection), suppress(duckdb.Error):
            self._status.write_rest(self._path)

    def set_practices(self, configured: Sequence[Practice]) -> None:
        """Store the configured practices; if a time zone was corrected, recompute the times that depend on it."""
        with self.writing():
            record_practices(self._connection, configured, tuple(self.tables.values()))
        self._status.practices_changed()
        self._zones = zones(self._connection)

    def times(self, practice_id: str, endpoint: Endpoint) -> Times:
        """Return the reader of times for rows of a list that no sync reads."""
        return Times.of(endpoint, self.times_without_offset, self._zones.get(practice_id, "UTC"))

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

    @contextmanager
    def run(
        self, command: str, practices: Sequence[Practice], started: datetime | None = None
    ) -> Generator[RunRow]:
        """Store the practices, and record a run of a command: its beginning, and its end in any case."""
        started = started or datetime.now(UTC)
        run = RunRow(new_run_id(started))
        self.set_practices(practices)
        self.start_run(run.id, started, command)
        try:
            yield run
        finally:
            self.finish_run(run.id, source_clock=run.source_clock, exit_code=run.exit_code, summary=run.summary)

    def last_clock(self) -> datetime | None:
        """Return the platform's clock at the last run that reached it."""
        with self.reading():
            [(last,)] = self._connection.execute("select max(source_clock) from control.runs").fetchall()
            return last

    def commit(self, run_id: str, practice_id: str, endpoint: Endpoint, work: Sequence[Save]) -> Changes:
        """Commit the work of one list, see `commit_all`."""
        return self.commit_all(run_id, [(practice_id, endpoint, work)])[0]

    def prepared(self, practice_id: str, endpoint: Endpoint, saves: Sequence[Save]) -> list[Save]:
        """Return the saves with parsed values, see `saving.prepared`."""
        return prepared(practice_id, self.tables[endpoint.name], saves)

    def commit_all(self, run_id: str, works: Sequence[Work]) -> list[Changes]:
        """Commit data, certificates and cursors of these lists in one transaction.

        Raise `ContractBroken` if a frame holds calls of days that were not requested.
        """
        with self.writing():
            changes = store(works, partial(self.context, run_id))
            keep(self._connection, run_id, works)
        for practice_id, endpoint, saves in works:
            self._beginnings.committed((practice_id, endpoint.name), saves)
        with self.reading():
            self._written += sum(change.inserted + change.updated for change in changes)
            if self._written >= MEMORY_FREED_AFTER:
                self._limit_memory()
        self.changed((practice_id, endpoint.name) for practice_id, endpoint, _ in works)
        return changes

    def _limit_memory(self) -> None:
        limit_memory(self._connection, MEMORY_FOR_ROWS)
        self._written = 0

    def changed(self, lists: Iterable[tuple[str, str]]) -> None:
        """Note lists of practices that a transaction has changed, and write the snapshot if it is due."""
        for practice_id, name in lists:
            self._status.changed(practice_id, name)
        self.write_status(at_once=False)

    def people_changed(self) -> None:
        """Note that a person was forgotten."""
        self.pseudonyms = Pseudonyms.load(self._connection)
        self._status.practices_changed()
        self.write_status()

    def answer_all(self, list_questions: Sequence[strategy_questions.ListQuestion]) -> list[Any]:
        """Answer strategies' questions (`steps.Question`) from committed data, in order."""
        with self.reading():
            return strategy_questions.answers(self._connection, self.tables, list_questions)

    def counts(self, practices: Sequence[str], endpoint: Endpoint) -> dict[str, tuple[int, int]]:
        """Return by practice the rows of a list that are not deleted, and its rows in quarantine."""
        with self.reading():
            rows = strategy_questions.row_counts(self._connection, self.tables[endpoint.name], practices)
            quarantined = bad_rows.quarantined_counts(self._connection, endpoint.name)
        return {name: (rows.get(name, (0, 0))[0], quarantined.get(name, 0)) for name in practices}

    def cursor(self, practice_id: str, endpoint_name: str) -> dict[str, Any] | None:
        """Return the endpoint's cursor, or `None` before the first sync."""
        with self.reading():
            return self._beginnings.cursors.get((practice_id, endpoint_name))

    def capabilities(self, practice_id: str, endpoint_name: str) -> dict[str, Any]:
        """Return the observed capabilities of the source on this list, by name."""
        with self.reading():
            return self._beginnings.capabilities.get((practice_id, endpoint_name), {})

    def status(self) -> list[ListStatus]:
        """Return the status of every list of every practice."""
        with self.reading():
            return self._status.lists()

    @property
    def path(self) -> Path:
        """Return the path of the private file."""
        return self._path

    def quarantined_rows(self) -> list[bad_rows.QuarantinedRow]:
        """Return the rows in quarantine."""
        with self.reading():
            return bad_rows.quarantined_rows(self._connection)

    def acknowledge(self, rows: Sequence[bad_rows.QuarantinedRow], reason: str) -> None:
        """Mark rows in quarantine as known, see `bad_rows.acknowledge`."""
        with self.writing():
            bad_rows.acknowledge(self._connection, rows, reason)
        self.changed((row.practice_id, row.endpoint) for row in rows)
        self.write_status()

    def context(self, run_id: str, endpoint: Endpoint, clocks: Mapping[str, datetime]) -> Commit:
        """Return the context of a commit. Only calls need a zone, and the practices of lists are configured."""
        return Commit(
            connection=self._connection,
            run_id=run_id,
            table=self.tables[endpoint.name],
            zones={practice_id: self._zones.get(practice_id, "UTC") for practice_id in clocks},
            clocks=clocks,
            quarantined_lists=self._quarantined_lists,
            pseudonyms=self.pseudonyms,
        )

    def write_status(self, *, at_once: bool = True) -> None:
        """Write the snapshot that `vetl status` reads; without `at_once` only if it is due."""
        with self.reading():
            self._status.write(self._path, at_once=at_once)

    @contextmanager
    def reading(self) -> Generator[Connection]:
        """Yield the connection."""
        with self._turn, as_vetl_errors(self._path):
            yield self._connection

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """Yield the connection in a transaction."""
        with self.reading(), transaction(self._connection):
            yield self._connection


class Place(Protocol):
    """The path of a private file, and how long to wait for other writers: `[warehouse]` of the settings."""

    path: Path
    lock_wait_seconds: float


@contextmanager
def writing(place: Place, seconds: float | None = None, *, restoring: bool = False) -> Generator[None]:
    """Hold the lock of the warehouse; wait for it for at most `seconds`, by default `lock_wait_seconds`."""
    patience = place.lock_wait_seconds if seconds is None else seconds
    with writer_lock.writing(place.path, lock_wait_seconds=patience):
        if not restoring and (unfinished := writer_lock.unfinished_restore(place.path)):
            raise WarehouseError(unfinished)
        yield


@contextmanager
def working(place: Place, kind: writer_lock.Kind, command: str) -> Generator[writer_lock.Recorder]:
    """Hold the lock of the warehouse, and record the beginning and the outcome of the work."""
    with writing(place), writer_lock.recorded(place.path, kind, command) as recorder:
        yield recorder


@contextmanager
def opened(place: Place, seconds: float | None = None) -> Generator[Warehouse]:
    """Open the warehouse for writing, under its lock; wait for other writers as `writing` does."""
    patience = place.lock_wait_seconds if seconds is None else seconds
    with writing(place, seconds), Warehouse.open(place.path, REGISTRY, lock_wait_seconds=patience) as file:
        yield file


def existing(place: Place) -> None:
    """Check that there is a warehouse."""
    if not place.path.exists():
        raise WarehouseError(f"{place.path}: there is no warehouse yet; run `vetl sync` first")


def new_run_id(started: datetime) -> str:
    """Return the id of a run in `control.runs`."""
    return f"{started:%Y%m%dT%H%M%S}-{token_hex(4)}"
