"""One drain with the configured inbox, warehouse and client."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from vetl.core.errors import ConfigurationError, VetlError, WarehouseError
from vetl.core.pages import Changes
from vetl.jobs.sync import chosen_practices, partner_client
from vetl.receiving.inbox import Inbox
from vetl.receiving.into_warehouse import CatchUp, Caught, drain
from vetl.settings import Settings
from vetl.store.warehouse import Warehouse, opened


@dataclass(frozen=True, slots=True)
class DrainResult:
    """The result of a drain; `requested` counts requests by id, `notes` are lines about failures."""

    deliveries: int = 0
    requested: int = 0
    changes: Changes = field(default_factory=Changes)
    notes: tuple[str, ...] = ()
    exit_code: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return asdict(self)


def run_drain(settings: Settings, *, catch_up: bool = True, messages: Sequence[str] = ()) -> DrainResult:
    """Move the inbox into the warehouse, then get records that webhooks may have missed, and `messages`, by id.

    The exit code is 3 if a body was quarantined, a request failed, or no practice has a message of `messages`. If
    no platform is configured, nothing is got by id.
    """
    if messages:
        settings.login()
        chosen_practices(settings.practices, None)
    with Inbox.open(settings.webhooks.inbox) as inbox, opened(settings.warehouse) as warehouse:
        warehouse.times_without_offset = settings.partner.times_without_offset
        with warehouse.run("webhooks drain", settings.practices) as run:
            deliveries, changes = drain(inbox, warehouse, run.id, warehouse.pseudonyms.mentions_in)
            result = DrainResult(deliveries, changes=changes, exit_code=3 if changes.quarantined else 0)
            if catch_up or messages:
                result = asyncio.run(_by_id(settings, warehouse, run.id, result, messages, catch_up=catch_up))
            # A drain sets no source clock, because "now" of the marts is that of the last sync.
            run.exit_code, run.summary = result.exit_code, result.as_json()
            return result


async def _by_id(
    settings: Settings,
    warehouse: Warehouse,
    run_id: str,
    drained: DrainResult,
    messages: Sequence[str],
    *,
    catch_up: bool,
) -> DrainResult:
    try:
        client = partner_client(settings)
    except ConfigurationError as error:
        return replace(drained, notes=(f"not caught up: {error}",))
    result, left = drained, tuple(dict.fromkeys(messages))
    try:
        async with client:
            catching = CatchUp(client, warehouse, run_id, await client.sign_in())
            for practice in settings.practices if catch_up else ():
                for reading in (catching.messages, catching.outreach):
                    result, _ = await _added(result, practice.id, reading(practice.id))
            # One practice after another, because an id does not show its practice.
            for practice in settings.practices:
                if left:
                    reading = catching.messages_by_id(practice.id, left)
                    result, left = await _added(result, practice.id, reading, left)
    except WarehouseError:
        raise
    except VetlError as error:
        return replace(drained, notes=(f"not caught up: {error}",), exit_code=3)
    notes = tuple(f"message {identity}: no practice has it" for identity in left)
    return replace(result, notes=result.notes + notes, exit_code=3 if notes else result.exit_code)


async def _added(
    result: DrainResult, practice_id: str, reading: Coroutine[Any, Any, Caught], left: tuple[str, ...] = ()
) -> tuple[DrainResult, tuple[str, ...]]:
    """Return the result with that of one practice, and the ids that it lacks; a failure becomes a note."""
    try:
        caught = await reading
    except WarehouseError:
        raise
    except VetlError as error:
        note = f"{practice_id}: not caught up: {error}"
        return replace(result, notes=(*result.notes, note), exit_code=3), left
    return replace(
        result,
        requested=result.requested + caught.requested,
        changes=result.changes + caught.changes,
        notes=result.notes + caught.notes,
        exit_code=3 if caught.changes.quarantined or caught.notes else result.exit_code,
    ), caught.missing
