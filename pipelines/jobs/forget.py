"""A person is forgotten: in everything that vetl keeps, by a plan that lies on the disk until nothing is left.

Each step can be repeated, so whatever ends a forgetting, the same command and the next run go on with it.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.core.errors import VetlError, WarehouseError, WrongUse
from pipelines.jobs.build import build_marts, existing, publish_marts
from pipelines.jobs.dbt_process import state_folder
from pipelines.jobs.drain import run_drain
from pipelines.jobs.forget_plan import STEPS, Plan, keep_plans, read_plans
from pipelines.jobs.lake import renew_lakes
from pipelines.jobs.residue import remove_leftovers, residue
from pipelines.jobs.shards import OpenWarehouse, opened
from pipelines.loading.compact import rewrite
from pipelines.loading.mentions import Mentions
from pipelines.loading.person import Person
from pipelines.loading.pseudonyms import Pseudonyms
from pipelines.loading.published.hold import release
from pipelines.loading.published.parquet import write_parquet
from pipelines.loading.published.retention import kept, remove_kept
from pipelines.loading.shards import forget_derived
from pipelines.receiving.inbox import Inbox
from pipelines.settings import Settings

Build = Callable[[Settings], Mapping[str, Any]]
"""Builds the marts in full and publishes them; the answer has an `exit_code`."""

UNFINISHED = "the forgetting is not complete: give the same command again, or `vetl run`, which goes on with it"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """What a forgetting would change: rows by table, deliveries in the inbox, published files of before."""

    rows: Mapping[str, int]
    deliveries: int
    kept_files: int


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What was done. `left`: where something of the person is still found; the plan then stays."""

    pseudonym: str
    rows: Mapping[str, int]
    deliveries: int
    removed: Sequence[Path]
    lakes: Sequence[str]
    left: Sequence[str]
    built: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def exit_code(self) -> int:
        """1 while something is left."""
        return 1 if self.left else self.built.get("exit_code", 0)


def rehearse(settings: Settings, practice_id: str, client_id: str) -> Rehearsal:
    """Count what a forgetting would change; nothing is.

    Raises:
        WrongUse: no row of the practice names this client.
        WarehouseError: there is no warehouse yet, or it cannot be written.
    """
    existing(settings)
    with opened(settings) as warehouse:
        file = warehouse.of(practice_id)
        person = _person(warehouse, read_plans(settings.warehouse.path), practice_id, client_id)
        mentions, rows = file.people.rehearse(person)
    deliveries = 0
    if settings.webhooks.inbox.exists():
        with Inbox.open(settings.webhooks.inbox) as inbox:
            about = _about(practice_id, mentions)
            deliveries = sum(len(inbox.about(about, drained=drained)) for drained in (True, False))
    return Rehearsal(rows, deliveries, len(kept(settings.warehouse.published)))


def forget_person(settings: Settings, practice_id: str, client_id: str, build: Build) -> Forgetting:
    """Take a client out of everything that vetl keeps, or go on with that.

    The inbox is drained first, so that nothing of the person comes in from there later.

    Raises:
        WrongUse: no row of the practice names this client; nothing was changed.
        VetlError: a step failed; what was done is kept, and the same command goes on.
    """
    existing(settings)
    path = settings.warehouse.path
    with opened(settings) as warehouse:
        plans = read_plans(path)
        person = _person(warehouse, plans, practice_id, client_id)
        if not any(plan.is_of(practice_id, client_id) for plan in plans):
            keep_plans(path, [*plans, Plan(person)])
    done = _finish(settings, build, practice_id, client_id)
    return done[-1]


def go_on(settings: Settings, build: Build) -> list[Forgetting]:
    """Go on with the forgettings that are not complete; mostly there is none.

    Raises:
        VetlError: a step failed; the next attempt goes on.
    """
    return _finish(settings, build) if read_plans(settings.warehouse.path) else []


def build_in_full(settings: Settings) -> Mapping[str, Any]:
    """Build and publish without showing it."""
    result = build_marts(settings, full_refresh=True)
    if not result.failures:
        publish_marts(settings)
    return {"exit_code": result.exit_code}


def _finish(
    settings: Settings, build: Build, practice_id: str | None = None, client_id: str | None = None
) -> list[Forgetting]:
    """Do all steps for everybody who is planned; the one of `practice_id` and `client_id` comes last."""
    try:
        return _steps(settings, build, practice_id, client_id)
    except VetlError as error:
        if not read_plans(settings.warehouse.path):
            raise
        raise WarehouseError(f"{error}; {UNFINISHED}") from None


def _steps(settings: Settings, build: Build, practice_id: str | None, client_id: str | None) -> list[Forgetting]:
    plans = _private_steps(settings)
    # An earlier file that was rolled back to holds the person.
    release(settings.warehouse.path)
    removed = remove_kept(settings.warehouse.published)
    built = build(settings)
    if built["exit_code"]:
        return [_unfinished(settings, plan, built) for plan in _last(plans, practice_id, client_id)]
    removed += remove_kept(settings.warehouse.published)  # what was published until now
    if settings.warehouse.parquet and settings.warehouse.published.exists():
        write_parquet(settings.warehouse.published, 1)
    plans = _noted(settings, plans, STEPS[3])
    lakes = renew_lakes(settings)
    plans = _noted(settings, plans, STEPS[4])
    remove_leftovers(settings)
    done: list[Forgetting] = []
    for plan in _last(plans, practice_id, client_id):
        left = residue(settings, plan.person, _mentions(settings, plan.person))
        done.append(_forgetting(plan, removed, lakes, left, built))
        if not left:
            plans = [other for other in plans if other != plan]
        # Where something is left, no step counts as done.
        keep_plans(settings.warehouse.path, [plan.again() for plan in plans])
    return done


def _private_steps(settings: Settings) -> list[Plan]:
    """Everything that is nobody's but the owner's: rows, inbox, the private file's bytes, what dbt keeps."""
    path, inbox = settings.warehouse.path, settings.webhooks.inbox
    plans = read_plans(path)
    if inbox.exists() and any(STEPS[1] not in plan.done for plan in plans):
        run_drain(settings, catch_up=False)
    if any(STEPS[0] not in plan.done for plan in plans):
        with opened(settings) as warehouse:
            plans = [plan if STEPS[0] in plan.done else _forgotten(warehouse, plan) for plan in plans]
        keep_plans(path, plans)
    for plan in plans if inbox.exists() else ():
        if STEPS[1] not in plan.done:
            plans = _replaced(settings, plans, _erased(settings, plan))
    for plan in plans:
        if STEPS[2] not in plan.done:
            rewrite(_home(settings, plan.person.practice_id))
            forget_derived(path, lock_wait_seconds=settings.warehouse.lock_wait_seconds)
            shutil.rmtree(state_folder(path), ignore_errors=True)
            remove_leftovers(settings)
            plans = _replaced(settings, plans, plan.after(STEPS[2]))
    return plans


def _forgotten(warehouse: OpenWarehouse, plan: Plan) -> Plan:
    """The plan, once the rows have pseudonyms. What came in since it was made is the person's too."""
    file = warehouse.of(plan.person.practice_id)
    person = _person(warehouse, [plan], plan.person.practice_id, plan.person.client_id)
    forgotten = file.people.forget(person)
    mentions = file.people.pseudonyms.by_practice[person.practice_id]
    for other in warehouse.files:
        if other is not file:
            other.people.forget_unplaced(mentions)
    return plan.after(STEPS[0], person=person, pseudonym=forgotten.pseudonym, rows=dict(forgotten.rows))


def _person(warehouse: OpenWarehouse, plans: Sequence[Plan], practice_id: str, client_id: str) -> Person:
    """The values of a client: those that rows have now, and those that an unfinished plan has."""
    planned = [plan.person for plan in plans if plan.is_of(practice_id, client_id)]
    try:
        person = warehouse.of(practice_id).people.look_up(practice_id, client_id)
    except WrongUse:
        if not planned:
            raise
        return planned[0]
    return person.union(planned[0]) if planned else person


def _erased(settings: Settings, plan: Plan) -> Plan:
    """The plan, once no delivery is about the person."""
    about = _about(plan.person.practice_id, _mentions(settings, plan.person))
    with Inbox.open(settings.webhooks.inbox) as inbox:
        numbers = inbox.about(about)
        inbox.erase(numbers)
    return plan.after(STEPS[1], deliveries=plan.deliveries + len(numbers))


def _mentions(settings: Settings, person: Person) -> Mentions:
    with opened(settings) as warehouse:
        return warehouse.of(person.practice_id).people.pseudonyms.by_practice[person.practice_id]


def _home(settings: Settings, practice_id: str) -> Path:
    with opened(settings) as warehouse:
        return warehouse.of(practice_id).path


def _about(practice_id: str, mentions: Mentions) -> Callable[[str, str], bool]:
    return Pseudonyms({practice_id: mentions}).mentions_in


def _noted(settings: Settings, plans: Sequence[Plan], step: str) -> list[Plan]:
    noted = [plan.after(step) for plan in plans]
    keep_plans(settings.warehouse.path, noted)
    return noted


def _replaced(settings: Settings, plans: Sequence[Plan], plan: Plan) -> list[Plan]:
    replaced = [plan if plan.is_of(other.person.practice_id, other.person.client_id) else other for other in plans]
    keep_plans(settings.warehouse.path, replaced)
    return replaced


def _last(plans: Sequence[Plan], practice_id: str | None, client_id: str | None) -> list[Plan]:
    return sorted(plans, key=lambda plan: plan.is_of(practice_id or "", client_id or ""))


def _unfinished(settings: Settings, plan: Plan, built: Mapping[str, Any]) -> Forgetting:
    """The marts could not be built: what is published still has the person."""
    return _forgetting(plan, (), (), [str(settings.warehouse.published)], built)


def _forgetting(
    plan: Plan, removed: Sequence[Path], lakes: Sequence[str], left: Sequence[str], built: Mapping[str, Any]
) -> Forgetting:
    assert plan.pseudonym
    return Forgetting(plan.pseudonym, plan.rows, plan.deliveries, removed, lakes, left, built)
