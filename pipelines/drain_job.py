"""One drain, put together: settings, inbox, warehouse and client around it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from secrets import token_hex
from typing import Any

from pipelines.endpoints import REGISTRY
from pipelines.errors import ConfigurationError, VetlError, WarehouseError
from pipelines.loading.warehouse import Warehouse
from pipelines.pages import Changes
from pipelines.partner.client import Account, Limits, PartnerClient
from pipelines.receiving.catch_up import CatchUp
from pipelines.receiving.drain import drain
from pipelines.receiving.inbox import Inbox
from pipelines.settings import Settings


@dataclass(frozen=True, slots=True)
class DrainResult:
    """What a drain did. `asked`: got by id; `notes`: what could not be caught up, and why."""

    deliveries: int = 0
    asked: int = 0
    changes: Changes = field(default_factory=Changes)
    notes: tuple[str, ...] = ()
    exit_code: int = 0

    def as_json(self) -> dict[str, Any]:
        """The same as plain JSON values."""
        return asdict(self)


def run_drain(settings: Settings, *, catch_up: bool = True) -> DrainResult:
    """Move the inbox into raw, then get by id what webhooks may have missed.

    The exit code is 3 where a body was quarantined or the platform could not be asked. Where no platform is
    configured, nothing is caught up.

    Raises:
        InboxError: the inbox cannot be read or written.
        WarehouseError: the warehouse cannot be opened or written; what is not drained waits on.
    """
    started = datetime.now(UTC)
    run_id = f"{started:%Y%m%dT%H%M%S}-{token_hex(4)}"
    with (
        Inbox.open(settings.webhooks.inbox) as inbox,
        Warehouse.open(
            settings.warehouse.path, REGISTRY, lock_wait_seconds=settings.warehouse.lock_wait_seconds
        ) as warehouse,
    ):
        warehouse.set_practices(settings.practices)
        warehouse.start_run(run_id, started, "webhooks drain")
        result = DrainResult(exit_code=1)
        try:
            deliveries, changes = drain(inbox, warehouse, run_id)
            result = DrainResult(deliveries, changes=changes, exit_code=3 if changes.quarantined else 0)
            if catch_up:
                result = asyncio.run(_caught_up(settings, warehouse, run_id, result))
            return result
        finally:
            # No source clock: "now" of the marts is that of the last sync.
            warehouse.finish_run(run_id, source_clock=None, exit_code=result.exit_code, summary=result.as_json())


async def _caught_up(settings: Settings, warehouse: Warehouse, run_id: str, drained: DrainResult) -> DrainResult:
    try:
        login = settings.login()
    except ConfigurationError as error:
        return replace(drained, notes=(f"not caught up: {error}",))
    limits = Limits(
        max_in_flight=settings.partner.max_in_flight,
        requests_per_minute=settings.partner.requests_per_minute,
        timeout_seconds=settings.partner.timeout_seconds,
    )
    client = PartnerClient(Account(login.base_url, login.username, login.password, login.role), limits)
    try:
        async with client:
            catching = CatchUp(client, warehouse, run_id, await client.sign_in())
            result = drained
            for practice in settings.practices:
                result = await _added(result, practice.id, catching.messages(practice.id))
                result = await _added(result, practice.id, catching.outreach(practice.id))
            return result
    except WarehouseError:
        raise
    except VetlError as error:
        return replace(drained, notes=(f"not caught up: {error}",), exit_code=3)


async def _added(
    result: DrainResult, practice_id: str, reading: Coroutine[Any, Any, tuple[int, Changes]]
) -> DrainResult:
    """With what one practice's reading did; its failure is its own."""
    try:
        asked, changes = await reading
    except WarehouseError:
        raise
    except VetlError as error:
        return replace(result, notes=(*result.notes, f"{practice_id}: not caught up: {error}"), exit_code=3)
    code = 3 if changes.quarantined else result.exit_code
    return replace(result, asked=result.asked + asked, changes=result.changes + changes, exit_code=code)
