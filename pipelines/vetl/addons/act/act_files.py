"""The files of `vetl act` that name clients: the ledger, its copy for the marts, and the last plan.

The plan is a file beside the published file, for the dashboard of the account that planned. It has the words of
the tasks, which may name a number, so only its owner may read it.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from vetl.addons.act.acts import Act, LedgerEntry
from vetl.addons.act.ledger import Ledger, read_ledger
from vetl.addons.act.planning import ActPlan
from vetl.addons.act.settings import ActSettings
from vetl.core.errors import LedgerError, cannot_write
from vetl.hooks import AddonFiles
from vetl.settings import Settings
from vetl.store.connection import Connection
from vetl.store.control.state import note_undated
from vetl.store.drafts import remove_leftovers, replace_text
from vetl.store.mentions import Mentions
from vetl.store.person import ForgetPlan, Person
from vetl.store.pseudonyms import Pseudonyms
from vetl.store.warehouse import Warehouse, opened


class ActFiles(AddonFiles):
    """The ledger, and the last plan, which is made again."""

    def __init__(self, settings: Settings) -> None:
        act, published = ActSettings.of(settings), settings.warehouse.published
        self._ledger, self._published = act.ledger, published
        super().__init__(
            {"act-ledger": act.ledger, "act-plan": plan_file(published), "act-stopped": act.stop_file}
        )

    def forget(self, plan: ForgetPlan, mentions: Mentions) -> None:
        """Erase the person from the ledger; to repeat it changes nothing."""
        if self._ledger.exists():
            with Ledger.open(self._ledger) as ledger:
                if acts := _about(ledger, plan.person, mentions):
                    ledger.forget(acts)

    def renew(self) -> Sequence[str]:
        """Remove the last plan, which has words of the tasks, and drafts of it."""
        file = plan_file(self._published)
        try:
            remove_leftovers(file)
            file.unlink(missing_ok=True)
        except OSError as error:
            raise LedgerError(f"{file}: cannot be removed: {error.strerror}") from None
        return ()

    def left(self, person: Person, mentions: Mentions) -> Iterator[str]:
        """Yield the ledger if an act is still about the person."""
        if self._ledger.exists():
            with Ledger.open(self._ledger) as ledger:
                if _about(ledger, person, mentions):
                    yield str(self._ledger)


def _about(ledger: Ledger, person: Person, mentions: Mentions) -> Sequence[Act]:
    names = Pseudonyms({person.practice_id: mentions}).mentions_in
    return ledger.about(person.practice_id, person.client_id, lambda text: names(person.practice_id, text))


def plan_file(published: Path) -> Path:
    """Return the path of the last plan."""
    return published.resolve().with_name("act-plan.json")


def plan_json(plan: ActPlan) -> dict[str, Any]:
    """Return a plan as JSON: its digest, and lists of acts, requests held back, cancellations and certificates."""
    return {
        "digest": plan.digest,
        "acts": [asdict(act) for act in plan.acts],
        "held_back": [asdict(item) for item in plan.held_back],
        "cancellations": [
            {"practice_id": act.practice_id, "episode_id": act.episode_id, "kind": act.kind}
            for act in plan.cancellations
        ],
        "certificates": [asdict(item) for item in plan.certificates],
    }


def write_plan(published: Path, plan: ActPlan, at: datetime) -> None:
    """Replace the last plan by this one."""
    file = plan_file(published)
    try:
        replace_text(file, json.dumps({"planned_at": at, **plan_json(plan)}, default=str))
    except OSError as error:
        raise LedgerError(cannot_write(file, error)) from None


_COLUMNS = (
    *("practice_id", "code", "kind", "episode_id", "state", "planned_at", "asked_at", "approved_by"),
    *("certified_through", "task_id", "found_by"),
)
"""An act without names, numbers and words; `episode_id` is null if only the code of its task is known."""

_INSTANTS = {"planned_at", "asked_at", "certified_through"}
_FROM_BEFORE = ("episode_id", "asked_at", "approved_by", "certified_through")


def keep_acts(connection: Connection, acts: Sequence[LedgerEntry]) -> None:
    """Replace the acts that differ, and note their practices for the next build.

    An act stays if the ledger was lost. If the ledger knows its task by the code alone, its booking request and
    the time of its plan stay as they were.
    """
    if not acts:
        return
    columns = ", ".join(
        f"unnest(?::varchar[]){'::timestamptz' if name in _INSTANTS else ''} as {name}" for name in _COLUMNS
    )
    preserved = ", ".join(f"coalesce(given.{name}, before.{name}) as {name}" for name in _FROM_BEFORE)
    changed = connection.execute(
        f"merge into control.acts using (select given.* replace ({preserved},"
        " case when given.episode_id is null then coalesce(before.planned_at, given.planned_at)"
        " else given.planned_at end as planned_at)"
        f" from (select {columns}) as given left join control.acts as before using (practice_id, code)"
        " except from control.acts) as latest using (practice_id, code)"
        " when matched then update by name when not matched then insert by name returning practice_id",
        [[_value(act, name) for act in acts] for name in _COLUMNS],
    ).fetchall()
    note_undated(connection, "acts", changed)


def _value(entry: LedgerEntry, column: str) -> str | None:
    of = entry.act if column in ("practice_id", "code", "kind", "episode_id") else entry
    value = getattr(of, column) or None
    return value.isoformat() if isinstance(value, datetime) else value and str(value)


def mirror_ledger(settings: Settings) -> None:
    """Copy the acts of the ledger before a build. A ledger that cannot be read is no reason not to build."""
    try:
        entries = read_ledger(ActSettings.of(settings).ledger)
    except LedgerError:
        return  # `vetl status` and `vetl act` name it
    if entries:
        with opened(settings.warehouse) as warehouse:
            mirror(warehouse, entries)


def mirror(warehouse: Warehouse, entries: Iterable[LedgerEntry]) -> None:
    """Copy these acts into the private file."""
    with warehouse.writing() as connection:
        keep_acts(connection, [*entries])
