"""The tables of the ledger, and how their rows become acts."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from vetl.addons.act.acts import Act, ActState, HeldBack, LedgerEntry
from vetl.addons.act.codes import code_of

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
