"""The tables of the ledger, and how their rows become acts."""

import json
import sqlite3
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
_ENTRIES = """
select acts.practice_id, code, kind, episode_id, act, state, plan, planned_at, asked_at, since, task_id, found_by,
    seen, note, plans.approved_by,
    (select min(certified_through) from certificates
     where certificates.plan = acts.plan and certificates.practice_id = acts.practice_id)
from acts left join plans on plans.digest = acts.plan
order by planned_at, acts.practice_id, code
"""
_COLUMNS = frozenset({"practice_id", "episode_id", "kind", "code"})


def entries_of(connection: sqlite3.Connection) -> list[LedgerEntry]:
    """Return all acts, in the order in which they were planned."""
    return [_entry(*row) for row in connection.execute(_ENTRIES)]


def _entry(
    practice_id: str,
    code: str,
    kind: str,
    episode_id: str,
    act: str,
    state: str,
    plan: str,
    planned_at: str,
    asked_at: str | None,
    since: str | None,
    task_id: str | None,
    found_by: str | None,
    seen: str | None,
    note: str,
    approved_by: str | None,
    certified_through: str | None,
) -> LedgerEntry:
    fields: dict[str, Any] = json.loads(act)
    fields["reference_time_at"] = datetime.fromisoformat(fields["reference_time_at"])
    fields["contacts"] = tuple(fields["contacts"])
    return LedgerEntry(
        act=Act(practice_id=practice_id, episode_id=episode_id, kind=kind, code=code, **fields),
        state=ActState(state),
        plan=plan,
        planned_at=datetime.fromisoformat(planned_at),
        asked_at=instant(asked_at),
        since=instant(since),
        task_id=task_id,
        found_by=found_by,
        seen=seen,
        note=note,
        approved_by=approved_by,
        certified_through=certified_through,
    )


def act_json(act: Act) -> str:
    """Return the parts of an act that have no column of their own."""
    fields = {name: value for name, value in asdict(act).items() if name not in _COLUMNS}
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
