"""`vetl act`: settings, ledger, private file and client around the ledger."""

import asyncio
import getpass
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from secrets import token_hex

from vetl.addons.act.act_data import ActData, read_act_data, zones_of
from vetl.addons.act.act_files import write_plan
from vetl.addons.act.act_status import Now, utc_now
from vetl.addons.act.acts import LedgerEntry
from vetl.addons.act.applying import Applier
from vetl.addons.act.ledger import Ledger, read_ledger
from vetl.addons.act.mirror import mirror
from vetl.addons.act.planning import ActPlan, make_plan
from vetl.addons.act.sending import ActPlatform, ApplyResult
from vetl.addons.act.settings import ActSettings
from vetl.addons.act.sighting import TasksRead, read_tasks
from vetl.core.errors import ConfigurationError, WrongUse
from vetl.endpoints.staff_tasks import STAFF_TASKS
from vetl.engine.runner import Order, Run, StepRunner
from vetl.jobs.platform import partner_client, query_names
from vetl.jobs.sync import chosen_practices
from vetl.partner.client import PartnerClient
from vetl.partner.practice import PartnerPractice
from vetl.settings import Settings
from vetl.store.phone_calls.csv_frames import parse_calls
from vetl.store.warehouse import Warehouse, existing, opened, writing


def plan_acts(settings: Settings, practices: Sequence[str] | None, *, now: Now = utc_now) -> ActPlan:
    """Make a plan from the private file. No request leaves."""
    existing(settings.warehouse)
    data = _data(settings, practices, read_ledger(ActSettings.of(settings).ledger), now)
    plan = make_plan(data.requests, ActSettings.of(settings), data.facts)
    if ActSettings.of(settings).enabled:
        with Ledger.open(ActSettings.of(settings).ledger) as ledger:
            ledger.save_plan(plan.digest, practices, now())
        write_plan(settings.warehouse.published, plan, now())
    return plan


def apply_acts(settings: Settings, digest: str, *, now: Now = utc_now) -> ApplyResult:
    """Apply a plan by its digest, or go on with it. One applier at a time, and no sync beside it.

    Raises:
        ConfigurationError: acting is off or stopped, or the credentials are refused.
        LedgerError: the ledger cannot be written; no request leaves that it does not hold.
        Unreachable: the platform does not answer the sign-in; nothing was sent.
        WrongUse: no such plan was made here, or it no longer fits the data.
    """
    if not ActSettings.of(settings).enabled:
        raise ConfigurationError("act.enabled is false: nothing is sent; docs/act.md shows how to begin")
    if _obstacle(settings):
        cause = "act.stop" if ActSettings.of(settings).stop else f"the file {ActSettings.of(settings).stop_file}"
        raise ConfigurationError(f"acting is stopped by {cause}; nothing is sent")
    existing(settings.warehouse)
    with writing(settings.warehouse), Ledger.open(ActSettings.of(settings).ledger) as ledger:
        data = _approved(settings, ledger, digest, now)
        client = partner_client(settings)
        with opened(settings.warehouse) as warehouse:
            return asyncio.run(_apply(settings, ledger, client, warehouse, data, digest))


def _data(
    settings: Settings, practices: Sequence[str] | None, entries: Sequence[LedgerEntry], now: Now
) -> ActData:
    return read_act_data(settings, chosen_practices(settings, practices), entries, now())


def _approved(settings: Settings, ledger: Ledger, digest: str, now: Now) -> ActData:
    """Return the data that the plan is applied to. A plan that was approved before is gone on with."""
    saved = ledger.plan(digest)
    if saved is None:
        raise WrongUse(f"{digest}: no such plan was made with this ledger; `vetl act plan` makes one")
    data = _data(settings, saved.practices, ledger.entries(), now)
    if saved.approved_at is None:
        plan = make_plan(data.requests, ActSettings.of(settings), data.facts)
        if plan.digest != digest:
            raise WrongUse(f"{digest}: this plan no longer fits the data; `vetl act plan` makes another")
        ledger.approve(plan, ActSettings.of(settings), _user(), data.now)
    return data


async def _apply(
    settings: Settings,
    ledger: Ledger,
    client: PartnerClient,
    warehouse: Warehouse,
    data: ActData,
    digest: str,
) -> ApplyResult:
    started = utc_now()
    run_id = f"{started:%Y%m%dT%H%M%S}-{token_hex(4)}"
    async with client:
        signed_in, begun = await client.sign_in(), time.monotonic()

        def clock() -> datetime:
            return signed_in + timedelta(seconds=time.monotonic() - begun)

        async def read(practice_id: str) -> TasksRead:
            return await _read_tasks(settings, client, warehouse, run_id, practice_id, clock())

        platform = ActPlatform(
            desk=lambda practice_id: PartnerPractice(client, practice_id),
            read_tasks=read,
            clock=clock,
            obstacle=lambda: _obstacle(settings),
        )
        warehouse.set_practices(settings.practices)
        warehouse.start_run(run_id, started, "act apply")
        result = ApplyResult()
        exit_code = 1
        try:
            rules, zones = ActSettings.of(settings), zones_of(settings)
            applier = Applier(ledger, platform, rules, zones, data.requests, data.facts, digest)
            result = applier.result
            await applier.apply()
            exit_code = result.exit_code
            return result
        finally:
            # No source clock: the "now" of the marts is that of the last sync.
            summary = {"sent": result.sent, "adopted": result.adopted, "unknown": result.unknown}
            mirror(warehouse, ledger.entries())
            warehouse.finish_run(run_id, source_clock=None, exit_code=exit_code, summary=summary)


async def _read_tasks(
    settings: Settings,
    client: PartnerClient,
    warehouse: Warehouse,
    run_id: str,
    practice_id: str,
    clock: datetime,
) -> TasksRead:
    """Read all tasks of a practice as a sync reads a list; rows and certificates go into the private file."""
    practice = next(item for item in settings.practices if item.id == practice_id)
    order = Order(practices=[practice], endpoints=[STAFF_TASKS], names=query_names(settings))
    run = Run(run_id, order, client, warehouse, parse_calls, clock, lambda _: None)
    runner = StepRunner(run, practice, STAFF_TASKS)
    reading = await runner.reading()
    read = await runner.drive(read_tasks(practice_id, reading))
    await runner.buffer.flush()
    return read


def _obstacle(settings: Settings) -> str | None:
    """Return why nothing may be sent: the kill switch of the settings, or its file."""
    return "stopped" if ActSettings.of(settings).stop or ActSettings.of(settings).stop_file.exists() else None


def _user() -> str:
    """Return who approves a plan: the account of this machine."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
