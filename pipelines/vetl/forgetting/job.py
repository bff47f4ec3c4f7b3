"""Forget a person in all files of vetl, by a plan on the disk that stays until no value is left.

Each step can be repeated, so the same command and the next run continue an interrupted forgetting.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from vetl import hooks
from vetl.core.errors import VetlError, WarehouseError, WrongUse, cannot_write
from vetl.forgetting.search import remove_leftovers, residue
from vetl.jobs.backups import derived_folders, kept_files
from vetl.jobs.drain import run_drain
from vetl.publishing.copies import write_parquet
from vetl.publishing.last_publication import release
from vetl.publishing.replacing import kept, remove_kept
from vetl.receiving.inbox import Inbox
from vetl.settings import Settings
from vetl.store import forgotten
from vetl.store.connection import PRIVATE, ROW_GROUP_SIZE, as_warehouse_error, literal, quoted
from vetl.store.drafts import draft_for, rewrite_log
from vetl.store.mentions import Mentions
from vetl.store.person import ForgetPlan, Person, keep_plans, look_up, read_plans
from vetl.store.pseudonyms import Pseudonyms
from vetl.store.sqlite_file import erase_remains, is_sqlite, sync_to_disk
from vetl.store.warehouse import Warehouse, existing, opened

Build = Callable[[], Mapping[str, Any]]
"""Build the marts in full and publish them; the returned mapping has an `exit_code`."""

UNFINISHED = "the forgetting is not complete: run the same command again, or `vetl run`, which continues it"


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The changes of a forgetting: rows by table, deliveries in the inbox, earlier published files."""

    rows: Mapping[str, int]
    deliveries: int
    kept_files: int


@dataclass(frozen=True, slots=True)
class Forgetting:
    """The result of a forgetting; `left` are places that still contain a value of the person."""

    pseudonym: str
    rows: Mapping[str, int]
    deliveries: int
    removed: Sequence[Path]
    lakes: Sequence[str]
    left: Sequence[str]
    built: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def exit_code(self) -> int:
        """Return 1 if a value is left, or else the exit code of the build."""
        return 1 if self.left else self.built.get("exit_code", 0)


def rehearse(settings: Settings, practice_id: str, client_id: str) -> Rehearsal:
    """Count the changes of a forgetting without a change.

    Raise `WrongUse` if no row of the practice names this client.
    """
    existing(settings.warehouse)
    with opened(settings.warehouse) as warehouse:
        person = _person(warehouse, read_plans(settings.warehouse.path), practice_id, client_id)
        mentions, rows = forgotten.rehearse(warehouse, person)
    deliveries = 0
    if settings.webhooks.inbox.exists():
        with Inbox.open(settings.webhooks.inbox) as inbox:
            about = _about(practice_id, mentions)
            deliveries = sum(len(inbox.about(about, drained=drained)) for drained in (True, False))
    return Rehearsal(rows, deliveries, len(kept(settings.warehouse.published)))


def forget_person(settings: Settings, practice_id: str, client_id: str, build: Build) -> Forgetting:
    """Remove a client from all files of vetl, or continue an interrupted removal.

    The inbox is drained first, so that no delivery about the person is stored later.

    Raise `WrongUse` if no row of the practice names this client (nothing was changed), `VetlError` if a step
    failed (the plan stays, and the same command does all steps again).
    """
    existing(settings.warehouse)
    path = settings.warehouse.path
    with opened(settings.warehouse) as warehouse:
        plans = read_plans(path)
        person = _person(warehouse, plans, practice_id, client_id)
        if not any(plan.is_of(practice_id, client_id) for plan in plans):
            begun_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
            keep_plans(path, [*plans, ForgetPlan(person, begun_at=begun_at)])
    return _finish(settings, build, practice_id, client_id)[-1]


def finish_forgettings(settings: Settings, build: Build) -> list[Forgetting]:
    """Continue unfinished forgettings, if there are any."""
    return _finish(settings, build) if read_plans(settings.warehouse.path) else []


def _finish(
    settings: Settings, build: Build, practice_id: str | None = None, client_id: str | None = None
) -> list[Forgetting]:
    """Do all steps for all plans; the plan of `practice_id` and `client_id` comes last."""
    try:
        return _steps(settings, build, practice_id, client_id)
    except VetlError as error:
        if not read_plans(settings.warehouse.path):
            raise
        raise WarehouseError(f"{error}; {UNFINISHED}") from None


def _steps(settings: Settings, build: Build, practice_id: str | None, client_id: str | None) -> list[Forgetting]:
    warehouse = settings.warehouse
    plans, mentions = _private_steps(settings)
    # A published file that was rolled back may contain the person.
    release(warehouse.path)
    removed = remove_kept(warehouse.published)
    built = build()
    if built["exit_code"]:
        # The published file still has the person.
        left = [str(warehouse.published)]
        return [_forgetting(plan, (), (), left, built) for plan in _last(plans, practice_id, client_id)]
    removed += remove_kept(warehouse.published)  # the file that the build has just replaced
    if warehouse.parquet and warehouse.published.exists():
        write_parquet(warehouse.published, 1)
    renewed = [place for keeper in hooks.people(settings) for place in keeper.renew()]
    remove_leftovers(warehouse)
    done: list[Forgetting] = []
    for plan in _last(plans, practice_id, client_id):
        left = residue(settings, plan.person, mentions[plan.person.practice_id])
        done.append(_forgetting(plan, removed, renewed, left, built))
        others = [other for other in plans if other != plan]
        plans = [*others, replace(plan, left=tuple(left))] if left else others
        keep_plans(warehouse.path, plans)
    return done


def _private_steps(settings: Settings) -> tuple[list[ForgetPlan], Mapping[str, Mentions]]:
    """Forget all planned persons in the private files; return the plans, and the mentions by practice."""
    path, inbox = settings.warehouse.path, settings.webhooks.inbox
    if inbox.exists():
        run_drain(settings, catch_up=False)
    with opened(settings.warehouse) as warehouse:
        plans = [_forgotten(warehouse, plan) for plan in read_plans(path)]
        mentions = warehouse.pseudonyms.by_practice
    keep_plans(path, plans)
    for files in hooks.people(settings):
        for plan in plans:
            files.forget(plan, mentions[plan.person.practice_id])
    if inbox.exists():
        plans = [_erased(inbox, plan, mentions[plan.person.practice_id]) for plan in plans]
        keep_plans(path, plans)
    _rewrite_all(settings, plans)
    return plans, mentions


def _rewrite_all(settings: Settings, plans: Sequence[ForgetPlan]) -> None:
    """Rewrite each file that stays, and remove each that is made again: these are the files that are searched."""
    rewrite(settings.warehouse.path)
    for file in kept_files(settings).values():
        if is_sqlite(file):
            erase_remains(file)
    for plan in plans:
        rewrite_log(settings.dashboard.audit, plan.person.ids, plan.pseudonym or "")
    for folder in derived_folders(settings):
        shutil.rmtree(folder, ignore_errors=True)
    remove_leftovers(settings.warehouse)


def _forgotten(warehouse: Warehouse, plan: ForgetPlan) -> ForgetPlan:
    # Rows that came since the plan was made may have further values of the person.
    person = _person(warehouse, [plan], plan.person.practice_id, plan.person.client_id)
    done = forgotten.forget(warehouse, person)
    return replace(plan, person=person, pseudonym=done.pseudonym, rows=dict(done.rows))


def _person(warehouse: Warehouse, plans: Sequence[ForgetPlan], practice_id: str, client_id: str) -> Person:
    """Return the values of a client in the rows and in an unfinished plan."""
    planned = [plan.person for plan in plans if plan.is_of(practice_id, client_id)]
    try:
        person = look_up(warehouse, practice_id, client_id)
    except WrongUse:
        if not planned:
            raise
        return planned[0]
    return person.union(planned[0]) if planned else person


def _erased(file: Path, plan: ForgetPlan, mentions: Mentions) -> ForgetPlan:
    """Erase deliveries about the person; return the plan with their number."""
    with Inbox.open(file) as inbox:
        numbers = inbox.about(_about(plan.person.practice_id, mentions))
        inbox.erase(numbers)
    return replace(plan, deliveries=plan.deliveries + len(numbers))


def _about(practice_id: str, mentions: Mentions) -> Callable[[str, str], bool]:
    return Pseudonyms({practice_id: mentions}).mentions_in


def _last(plans: Sequence[ForgetPlan], practice_id: str | None, client_id: str | None) -> list[ForgetPlan]:
    return sorted(plans, key=lambda plan: plan.is_of(practice_id or "", client_id or ""))


def _forgetting(
    plan: ForgetPlan, removed: Sequence[Path], lakes: Sequence[str], left: Sequence[str], built: Mapping[str, Any]
) -> Forgetting:
    assert plan.pseudonym
    return Forgetting(plan.pseudonym, plan.rows, plan.deliveries, removed, lakes, left, built)


def rewrite(path: Path) -> None:
    """Copy raw, history and control into a new file and rename it into place, without the marts."""
    try:
        with draft_for(path) as draft, closing(duckdb.connect()) as connection:
            connection.execute(f"attach {literal(str(path))} as old")
            schemas = connection.execute(
                "select schema_name from duckdb_schemas() where database_name = 'old' and not internal"
            ).fetchall()
            for (schema,) in schemas:
                if schema not in (*PRIVATE, "main"):
                    connection.execute(f"drop schema old.{quoted(schema)} cascade")
            connection.execute(f"attach {literal(str(draft))} as new (row_group_size {ROW_GROUP_SIZE})")
            connection.execute("copy from database old to new")
            connection.execute("detach new")
            connection.execute("checkpoint old")  # no log of the old file may be left for the new one
            draft.chmod(path.stat().st_mode & 0o777)
            draft.replace(path)  # this process holds the old file, so no other process writes to it
        sync_to_disk(path.parent)
    except OSError as error:
        raise WarehouseError(cannot_write(path, error, "cannot be rewritten")) from None
    except duckdb.Error as error:
        raise as_warehouse_error(error, path, "cannot be rewritten") from None
