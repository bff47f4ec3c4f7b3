"""Notes beside the warehouse: one SQLite file, which other processes read while a sync writes the warehouse.

`vetl.duckdb.notes.sqlite` has one row for each note, a value of JSON under its name: the `status` of every list,
the last `publication`, a `rollback` that holds the published file, `forgettings` that are not complete, and the
`credentials` that were accepted. What was erased leaves no bytes behind, because notes can name persons.

`vetl status` reads the note `status`, the snapshot, without disturbing a running sync. It is replaced at most once
a second and at the end of each command. While a sync runs it may be some seconds old; it contains the time when it
was written.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

from pydantic import TypeAdapter
from pydantic_core import to_json

from vetl import bundled
from vetl.core.errors import VetlError, WarehouseError, is_of_a_full_disk
from vetl.core.text import utc_seconds
from vetl.endpoints import RECEIVED
from vetl.store.sqlite_file import SqliteFile

_REMEDY = (
    "; move it away, and repeat a rollback or a forgetting that was not complete; the next sync writes the status"
)


class NotesFile(SqliteFile):
    """The open file. Anybody may read it meanwhile; writers wait for each other for an instant."""

    schema: ClassVar[str] = """
        create table if not exists notes (name text primary key, value text not null);
    """
    failure: ClassVar[type[VetlError]] = WarehouseError
    misread: ClassVar[tuple[type[Exception], ...]] = (ValueError,)

    def put(self, name: str, value: object) -> None:
        """Replace a note by this text of JSON, or by a value as JSON; remove it if the value is `None`."""
        with self.writing():
            self._connection.execute("delete from notes where name = ?", [name])
            if value is not None:
                text = value if isinstance(value, str) else json.dumps(value)
                self._connection.execute("insert into notes values (?, ?)", [name, text])


def notes_file(warehouse: Path) -> Path:
    """Return the path of the file."""
    return warehouse.with_name(f"{warehouse.name}.notes.sqlite")


def read_note(warehouse: Path, name: str) -> Any:  # noqa: ANN401 - whatever JSON has
    """Return a note; `None` if there is none."""
    return _read(warehouse).get(name)


def notes_except(warehouse: Path, name: str) -> str:
    """Return the text of all other notes."""
    return "\n".join(
        json.dumps(value, ensure_ascii=False) for own, value in _read(warehouse).items() if own != name
    )


def write_note(warehouse: Path, name: str, value: object, *, erase: bool = False) -> None:
    """Replace a note, or remove it if the value is `None`; with `erase` nothing is left of the old value."""
    file = notes_file(warehouse)
    if value is None and not file.exists():
        return
    with NotesFile.open(file) as notes:
        notes.put(name, value)
        if erase:
            notes.erase_remains()


def _read(warehouse: Path) -> dict[str, Any]:
    file = notes_file(warehouse)
    if not file.exists():
        return {}
    try:
        with NotesFile.read_only(file) as connection:
            if not connection.execute("select 1 from sqlite_master where name = 'notes'").fetchall():
                return {}  # another process makes the file now
            rows = connection.execute("select name, value from notes").fetchall()
            return {name: json.loads(value) for name, value in rows}
    except WarehouseError as error:
        raise WarehouseError(f"{error}{'' if is_of_a_full_disk(str(error)) else _REMEDY}") from None


_RECEIVED = frozenset(endpoint.name for endpoint in RECEIVED)
FINE = frozenset(("certified", "withdrawn", "received"))
"""The states of a list that leave the exit code at 0."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of the last sync of a list.

    `finished` is the end of that sync, `last_read` the end of the last sync that read the list without a failure.
    Both are of this machine's clock.
    """

    state: str
    reason: str
    finished: str
    last_read: str | None = None
    command: str = "sync"
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class LastWindow:
    """The window of a list that was read last. `finished`: the platform's clock."""

    certified: bool
    reason: str
    start: str | None = None
    end: str | None = None
    finished: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListStatus:
    """One list of one practice; instants are ISO 8601, as JSON has them.

    `quarantined` counts all rows in quarantine, `acknowledged` those of them that somebody has acknowledged.
    `certificate`: the last window. `last_read`: when that window was read, by the platform's clock.
    """

    practice_id: str
    practice: str | None = None
    endpoint: str
    state: str
    rows: int = 0
    open: int = 0
    certified_through: str | None = None
    attempt: Attempt | None = None
    last_read: str | None = None
    certificate: LastWindow | None = None
    cursor: dict[str, Any] | None = None
    quarantined: int = 0
    acknowledged: int = 0
    restated: int = 0
    last_restated: str | None = None
    last_reconcile: str | None = None
    drift: tuple[str, ...] = ()

    @property
    def is_received(self) -> bool:
        """Return whether the platform sends this list, so that no sync reads it."""
        return self.endpoint in _RECEIVED

    @property
    def unacknowledged(self) -> int:
        """Return the number of rows in quarantine that nobody has acknowledged."""
        return self.quarantined - self.acknowledged

    @property
    def has_problem(self) -> bool:
        """Return whether an operator should look at the list."""
        return self.state not in FINE or self.unacknowledged > 0

    @property
    def reason(self) -> str:
        """Return the reason for the outcome of the last sync of the list."""
        return self.attempt.reason if self.attempt else ""

    @property
    def read_at(self) -> datetime | None:
        """Return when the list was last read without a failure, by this machine's clock.

        It is `None` before the first time. The platform's clock may be hours ahead, and would hide a stale list.
        """
        instant = self.attempt.last_read if self.attempt else None
        return datetime.fromisoformat(instant) if instant else None

    def as_json(self) -> str:
        """Return the JSON object of this list."""
        return to_json(self).decode()


_LISTS = TypeAdapter(list[ListStatus])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The content of the note; instants are ISO 8601 in UTC.

    `lists`: an entry for each list of each practice (`Status.lists`). `written_at`: this machine's clock.
    `run`: the last sync or reconcile that reached the platform.
    """

    lists: list[ListStatus] = field(default_factory=list)
    written_at: str | None = None
    run: dict[str, Any] | None = None


def read_snapshot(warehouse: Path) -> Snapshot | None:
    """Return the last snapshot; `None` before the first sync."""
    document = read_note(warehouse, "status")
    if document is None:
        return None
    try:
        _refuse(warehouse, document["migration"])
        lists = _LISTS.validate_python(document["lists"])
        return Snapshot(lists, document["written_at"], document["run"])
    except (ValueError, LookupError, TypeError):
        raise WarehouseError(f"{notes_file(warehouse)}: the status cannot be read; run `vetl sync`") from None


def refuse_newer(warehouse: Path) -> None:
    """Refuse a file of a newer vetl before it is opened without a migration.

    Each vetl that migrates a file replaces its snapshot, so the snapshot names the last migration.
    """
    document = read_note(warehouse, "status")
    if isinstance(document, dict):
        _refuse(warehouse, str(document.get("migration")))


def _refuse(warehouse: Path, migration: str) -> None:
    if not (bundled.migrations() / f"{migration}.sql").exists():
        raise WarehouseError(
            f"{warehouse}: the warehouse is newer than this vetl (it has {migration}): upgrade vetl"
        )


def write_snapshot(warehouse: Path, migration: str, run: Mapping[str, Any] | None, lists: Iterable[str]) -> None:
    """Replace the snapshot; `lists` are JSON texts. A failure is ignored: the commit before it has succeeded."""
    header = json.dumps({"migration": migration, "written_at": utc_seconds(datetime.now(UTC)), "run": run})
    with suppress(WarehouseError):
        write_note(warehouse, "status", f'{header[:-1]}, "lists": [{", ".join(lists)}]}}')
