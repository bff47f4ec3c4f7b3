"""`vetl doctor`, put together: settings, client, checks, and where what they found is kept."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from pipelines.doctor.csv_calls import parse_plainly
from pipelines.doctor.finding import Report
from pipelines.doctor.mending import mend, overridden
from pipelines.doctor.notes import Notes
from pipelines.doctor.visit import visit
from pipelines.endpoints import REGISTRY, by_name
from pipelines.loading.warehouse import Warehouse
from pipelines.partner.client import Account, Limits, PartnerClient
from pipelines.performing import Order, Run
from pipelines.results import Report as Progressing
from pipelines.settings import Settings, load_settings
from pipelines.sync_job import chosen_endpoints, chosen_practices


def run_doctor(
    settings: Settings,
    *,
    practices: Sequence[str] | None,
    endpoints: Sequence[str] | None,
    config: Path | None,
    progress: Progressing,
) -> Report:
    """Examine the source; keep what was learnt in the warehouse, and mend `config` where one is given.

    Raises:
        ConfigurationError: an unknown practice or list is named, sign-in is refused, or `config` cannot be mended.
        Unreachable: the platform cannot be signed in to.
        WarehouseError: what was learnt cannot be kept.
    """
    order = Order(
        practices=chosen_practices(settings, practices),
        endpoints=chosen_endpoints(endpoints),
        names={
            endpoint.name: settings.partner.query_names(endpoint.name, endpoint.names) for endpoint in REGISTRY
        },
    )
    login = settings.login()
    limits = Limits(
        max_in_flight=settings.partner.max_in_flight,
        requests_per_minute=settings.partner.requests_per_minute,
        timeout_seconds=settings.partner.timeout_seconds,
    )
    client = PartnerClient(Account(login.base_url, login.username, login.password, login.role), limits)
    notes = Notes()
    started = datetime.now(UTC)
    run_id = f"{started:%Y%m%dT%H%M%S}-{token_hex(4)}"
    report = asyncio.run(_examine(client, order, notes, run_id, progress))
    _keep(settings, notes, run_id, started, report)
    if config is None:
        return report
    written = mend(config, report)
    return replace(report, written=written, mended=True, overridden=overridden(load_settings(config), report))


async def _examine(
    client: PartnerClient, order: Order, notes: Notes, run_id: str, progress: Progressing
) -> Report:
    async with client:
        clock = await client.sign_in()
        run = Run(run_id, order, client, notes, parse_plainly, clock, progress)
        practices = await visit(run, client)
        return Report(run.clock, tuple(practices), client.requests, client.total.limited)


def _keep(settings: Settings, notes: Notes, run_id: str, started: datetime, report: Report) -> None:
    """Into `control.capabilities`, where the next sync looks; the run itself is told in `control.runs`."""
    warehouse_settings = settings.warehouse
    with Warehouse.open(
        warehouse_settings.path, REGISTRY, lock_wait_seconds=warehouse_settings.lock_wait_seconds
    ) as warehouse:
        warehouse.set_practices(settings.practices)
        warehouse.start_run(run_id, started, "doctor")
        for (practice_id, name), learnt in notes.learnt.items():
            if learnt:
                warehouse.commit(run_id, practice_id, by_name(name), learnt)
        warehouse.finish_run(
            run_id, source_clock=report.source_clock, exit_code=report.exit_code, summary=report.as_json()
        )
