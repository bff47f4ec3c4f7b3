"""The ledger: an SQLite file that holds each act before its request leaves, and the answer after it.

A commit takes one fsync (WAL, `synchronous = FULL`). The file belongs to its owner alone, because the words of a
task may name a client. The writer lock of the warehouse keeps two appliers apart, so the ledger has one writer.
`vetl act status`, `vetl status` and Dagster's check show its state.
"""

import json
import sqlite3
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from vetl.addons.act.acts import OPEN, Act, ActState, HeldBack, LedgerEntry, code_of
from vetl.addons.act.planning import ActPlan
from vetl.addons.act.settings import ActSettings
from vetl.addons.act.sighting import Sighting
from vetl.core.errors import LedgerError
from vetl.hooks import Problem, StatusPart
from vetl.settings import Settings
from vetl.store.sqlite_file import SqliteFile, identities

SCHEMA = """
create table if not exists plans (
    digest text primary key,
    practices text not null,     -- JSON: the practices that the plan was limited to; null: all
    made_at text not null,
    approved_at text,
    approved_by text
) strict;
create table if not exists certificates (
    plan text not null,          -- the digest of an approved plan, which rests on these lists
    practice_id text not null,
    endpoint text not null,
    certified_through text,
    primary key (plan, practice_id, endpoint)
) strict;
create table if not exists acts (
    practice_id text not null,
    code text not null,
    kind text not null,
    episode_id text not null,    -- empty if only the code of the task is known
    act text not null,           -- JSON: words, client, reference time, contacts
    state text not null,
    plan text not null,
    planned_at text not null,
    asked_at text,
    since text,
    task_id text,
    found_by text,
    seen text,
    note text not null default '',
    primary key (practice_id, code)
) strict;
create table if not exists settling (
    practice_id text primary key,
    since text not null          -- tasks were found that the ledger did not know
) strict;
"""
_OWN = ("practice_id", "code", "kind", "episode_id")
_COLUMNS = (
    *(*_OWN, "act", "state", "plan", "planned_at", "asked_at", "since"),
    *("task_id", "found_by", "seen", "note"),
)
_ENTRIES = f"""
select {", ".join(f"acts.{name}" for name in _COLUMNS)}, plans.approved_by,
    (select min(certified_through) from certificates
     where certificates.plan = acts.plan and certificates.practice_id = acts.practice_id)
from acts left join plans on plans.digest = acts.plan
order by acts.planned_at, acts.practice_id, acts.code
"""


def entries_of(connection: sqlite3.Connection) -> list[LedgerEntry]:
    """Return all acts, in the order in which they were planned."""
    return [_entry(row) for row in connection.execute(_ENTRIES)]


def _entry(row: Sequence[Any]) -> LedgerEntry:
    """Return an act from its row: the columns, and who approved its plan and what certifies it."""
    entry = dict(zip((*_COLUMNS, "approved_by", "certified_through"), row, strict=True))
    fields: dict[str, Any] = {**json.loads(entry.pop("act")), **{name: entry.pop(name) for name in _OWN}}
    fields["reference_time_at"] = datetime.fromisoformat(fields["reference_time_at"])
    fields["contacts"] = tuple(fields["contacts"])
    entry |= {name: instant(entry[name]) for name in ("planned_at", "asked_at", "since")}
    return LedgerEntry(act=Act(**fields), state=ActState(entry.pop("state")), **entry)


def act_json(act: Act) -> str:
    """Return the parts of an act that have no column of their own."""
    fields = {name: value for name, value in asdict(act).items() if name not in _OWN}
    return json.dumps({**fields, "reference_time_at": act.reference_time_at.isoformat()}, ensure_ascii=False)


def key_of_act(act: Act) -> tuple[str, str]:
    """Return the key of an act in the ledger."""
    return act.practice_id, act.code


def left_alone(request: HeldBack, kind: str, at: datetime) -> Act:
    """Return the act of a booking request in the holdout: it has no words, because no task is made."""
    code = code_of(request.practice_id, kind, request.episode_id)
    return Act(request.practice_id, request.episode_id, kind, code, "", "", None, at, (request.episode_id,))


def instant(text: str | None) -> datetime | None:
    """Return the instant of a column."""
    return datetime.fromisoformat(text) if text else None


FOUND = "found by its code"
"""The note of a task that the ledger did not know."""


@dataclass(frozen=True, slots=True)
class SavedPlan:
    """A plan that was made here. `practices`: the practices that it was limited to, `None` for all."""

    practices: tuple[str, ...] | None
    approved_at: datetime | None


class Ledger(SqliteFile):
    """An open ledger. A context manager."""

    schema = SCHEMA
    failure = LedgerError
    misread = (ValueError, TypeError, KeyError)

    def entries(self) -> list[LedgerEntry]:
        """Return all acts."""
        with self._reading():
            return entries_of(self._connection)

    def save_plan(self, digest: str, practices: Sequence[str] | None, at: datetime) -> None:
        """Keep that this plan was made, so that it can be applied by its digest alone."""
        with self.writing():
            self._connection.execute(
                "insert into plans (digest, practices, made_at) values (?, ?, ?) on conflict (digest) do nothing",
                [digest, json.dumps(practices and list(practices)), at.isoformat()],
            )

    def plan(self, digest: str) -> SavedPlan | None:
        """Return a plan that was made here; `None` if there is no such plan."""
        with self._reading():
            row = self._connection.execute(
                "select practices, approved_at from plans where digest = ?", [digest]
            ).fetchone()
        if row is None:
            return None
        practices = json.loads(row[0])
        return SavedPlan(tuple(practices) if practices else None, instant(row[1]))

    def approve(self, plan: ActPlan, rules: ActSettings, by: str, at: datetime) -> None:
        """Take in the acts and the holdout of a plan that is about to be applied. An act is never taken back."""
        digest = plan.digest
        rows = [(act, ActState.PLANNED) for act in plan.acts]
        rows += [
            (left_alone(item, rules.kind_for(item.practice_id), at), ActState.HOLDOUT) for item in plan.holdout
        ]
        with self.writing():
            self._connection.execute(
                "update plans set approved_at = ?, approved_by = ? where digest = ?", [at.isoformat(), by, digest]
            )
            self._connection.executemany(
                "insert into certificates values (?, ?, ?, ?) on conflict do nothing",
                [[digest, item.practice_id, item.endpoint, item.certified_through] for item in plan.certificates],
            )
            for act, state in rows:
                self._connection.execute(
                    "insert into acts (practice_id, code, kind, episode_id, act, state, plan, planned_at)"
                    " values (?, ?, ?, ?, ?, ?, ?, ?) on conflict (practice_id, code) do update set"
                    " act = excluded.act, plan = excluded.plan, state = excluded.state,"
                    " planned_at = case when acts.state = excluded.state then acts.planned_at"
                    "   else excluded.planned_at end"
                    " where acts.state in ('planned', 'holdout')",
                    [*key_of_act(act), act.kind, act.episode_id, act_json(act), state, digest, at.isoformat()],
                )

    def asking(self, act: Act, at: datetime) -> None:
        """Record that the request for an act is about to leave; it is on disk when this returns."""
        self._change([act], "state = 'asking', asked_at = ?, since = null, note = ''", at.isoformat())

    def answered(self, act: Act, task_id: str, seen: str) -> None:
        """Record the task that the platform made."""
        self._change([act], "state = 'made', task_id = ?, seen = ?, found_by = 'answer', note = ''", task_id, seen)

    def refused(self, act: Act, reason: str) -> None:
        """Record that the platform will not make the task."""
        self._change([act], "state = 'refused', note = ?", reason)

    def not_made(self, acts: Iterable[Act], note: str) -> None:
        """Record that there is certainly no task, so that it may be asked for again."""
        self._change(acts, "state = 'planned', asked_at = null, since = null, note = ?", note)

    def unknown(self, acts: Iterable[Act], since: datetime, note: str) -> None:
        """Record that nobody knows whether the tasks were made, and that no request can leave after `since`."""
        self._change(acts, "state = 'unknown', since = ?, note = ?", since.isoformat(), note)

    def found(self, act: Act, sighting: Sighting, at: datetime) -> None:
        """Record the task that a read showed; a request that the ledger does not know left when it was created."""
        task = sighting.task
        self._change(
            [act],
            "state = 'made', asked_at = coalesce(asked_at, ?), task_id = ?, seen = ?, found_by = ?, note = ''",
            (task.created_at or at).isoformat(),
            task.id,
            task.digest,
            sighting.found_by,
        )

    def canceling(self, act: Act) -> None:
        """Record that the task is about to be canceled."""
        self._change([act], "state = 'canceling'")

    def ended(self, act: Act, state: ActState, note: str) -> None:
        """Record how a task ended whose client has booked."""
        self._change([act], "state = ?, note = ?", state, note)

    def adopt(self, practice_id: str, kind: str, strangers: Sequence[Sighting], at: datetime) -> None:
        """Take in tasks with codes that the ledger does not know: it was lost, or put back from a copy."""
        rows = list[list[object]]()
        for sighting in strangers:
            task = sighting.task
            act = Act(practice_id, "", kind, sighting.code, "", "", None, task.reference_time_at or at, ())
            asked = (task.created_at or at).isoformat()
            rows.append(
                [*key_of_act(act), kind, act_json(act), at.isoformat(), asked, task.id, task.digest, FOUND]
            )
        with self.writing():
            self._connection.executemany(
                "insert into acts (practice_id, code, kind, episode_id, act, state, plan, planned_at, asked_at,"
                " task_id, found_by, seen, note) values (?, ?, ?, '', ?, 'made', '', ?, ?, ?, 'code', ?, ?)"
                " on conflict (practice_id, code) do nothing",
                rows,
            )

    def settle(self, practice_id: str, at: datetime) -> None:
        """Record that tasks were found that the ledger did not know: other requests may still be under way."""
        with self.writing():
            self._connection.execute(
                "insert into settling values (?, ?)"
                " on conflict (practice_id) do update set since = excluded.since",
                [practice_id, at.isoformat()],
            )

    def settling_since(self, practice_id: str) -> datetime | None:
        """Return when tasks of a practice were found that the ledger did not know."""
        with self._reading():
            row = self._connection.execute(
                "select since from settling where practice_id = ?", [practice_id]
            ).fetchone()
        return instant(row[0]) if row else None

    def settled(self, practice_id: str) -> None:
        """Record that the ledger knows all tasks of the practice again."""
        with self.writing():
            self._connection.execute("delete from settling where practice_id = ?", [practice_id])

    def about(self, practice_id: str, client_id: str, mentions: Callable[[str], bool]) -> list[Act]:
        """Return the acts whose words are about a client of the practice: by id, or as `mentions` says."""
        own = [entry.act for entry in self.entries() if entry.act.practice_id == practice_id]
        return [act for act in own if act.client_id == client_id or mentions(act_json(act))]

    def forget(self, acts: Iterable[Act]) -> None:
        """Erase words, client and number of acts. Their tasks stay known, so that none is made twice."""
        for act in acts:
            empty = replace(act, title="", description="", client_id=None, phone_number=None)
            self._change([act], "act = ?, note = ''", act_json(empty))
        self.erase_remains()

    def _change(self, acts: Iterable[Act], changes: str, *values: object) -> None:
        with self.writing():
            self._connection.executemany(
                f"update acts set {changes} where practice_id = ? and code = ?",
                [[*values, *key_of_act(act)] for act in acts],
            )

    @contextmanager
    def writing(self) -> Generator[None]:
        """Commit the statements of the block together.

        Raise `LedgerError` if they were not committed, or the file was moved or deleted.
        """
        with super().writing():
            yield
        if identities(self._path)[0] != self._files[0]:
            raise LedgerError(f"{self._path}: was moved or deleted while it was in use; nothing more is sent")


def read_ledger(path: Path) -> list[LedgerEntry]:
    """Return the acts of a ledger, which is neither made nor written; none if there is no file."""
    if not path.exists():
        return []
    with Ledger.read_only(path) as connection:
        return entries_of(connection)


Now = Callable[[], datetime]


def utc_now() -> datetime:
    """Return this machine's clock."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ActStatus:
    """The acts of the ledger. `overdue`: open for longer than a day."""

    entries: tuple[LedgerEntry, ...]
    now: datetime

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many acts are in each state."""
        return {state.value: sum(entry.state is state for entry in self.entries) for state in ActState}

    @property
    def unknown(self) -> tuple[LedgerEntry, ...]:
        """Return the acts of which it is not known whether there is a task."""
        return tuple(entry for entry in self.entries if entry.state in OPEN)

    @property
    def overdue(self) -> tuple[LedgerEntry, ...]:
        """Return the acts that have been open for longer than a day."""
        day = timedelta(days=1)
        return tuple(entry for entry in self.unknown if entry.asked_at and self.now - entry.asked_at > day)

    @property
    def exit_code(self) -> int:
        """Return 3 if it is not known of an act whether there is a task."""
        return 3 if self.unknown else 0

    @property
    def noteworthy(self) -> tuple[LedgerEntry, ...]:
        """Return the acts that were refused, were left to a person, or may or may not have a task."""
        return tuple(entry for entry in self.entries if entry.state in OPEN | {ActState.REFUSED, ActState.LEFT})


def act_status(settings: Settings, now: datetime | None = None) -> ActStatus:
    """Return the acts of the ledger. No request leaves."""
    return ActStatus(tuple(read_ledger(ActSettings.of(settings).ledger)), now or utc_now())


def status_part(settings: Settings, now: datetime) -> StatusPart:
    """Return a problem if the ledger of acts cannot be read, or an act has been unknown for longer than a day."""
    try:
        overdue = len(act_status(settings, now).overdue)
    except LedgerError as error:
        return StatusPart((Problem(1, str(error)),))
    if not overdue:
        return StatusPart()
    tasks = "1 staff task was" if overdue == 1 else f"{overdue} staff tasks were"
    line = f"it has been unknown for longer than a day whether {tasks} made; see `vetl act status`"
    return StatusPart((Problem(3, line),))
