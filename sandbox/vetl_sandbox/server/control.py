"""The control interface: clock, switches, faults, writes and the truth. No sign-in; for this machine only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from vetl_sandbox.faults import PRESETS, Fault
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.server.auth import json_object, platform_of
from vetl_sandbox.server.envelopes import FieldError, Invalid, Refusal, success
from vetl_sandbox.strikes import Strikes
from vetl_sandbox.switches import Switches, UnknownSwitchError
from vetl_sandbox.table import NoSuchRowError, NotFilterableError, Table
from vetl_sandbox.webhooks.faults import PRESETS as WEBHOOK_PRESETS, WebhookFault


@dataclass(frozen=True)
class _Writes:
    insert: list[Record] = field(default_factory=list[Record])
    update: dict[str, Record] = field(default_factory=dict[str, Record])
    delete: list[str] = field(default_factory=list[str])


_WRITES = TypeAdapter(_Writes)
_FAULTS: TypeAdapter[list[Any]] = TypeAdapter(list[Fault])
_WEBHOOK_FAULTS: TypeAdapter[list[Any]] = TypeAdapter(list[WebhookFault])


async def clock(request: Request) -> Response:
    """GET: the time. POST `{"advance_seconds": 3600}`: move it forward; `{"freeze": true}`: stop it."""
    platform = _local(request)
    if request.method == "POST":
        body = await json_object(request)
        seconds = body.get("advance_seconds", 0)
        if not isinstance(seconds, int | float) or seconds < 0:
            raise Invalid([FieldError("advance_seconds", "advance_seconds must be a number of at least 0")])
        if body.get("freeze"):
            platform.clock.freeze()
        await run_in_threadpool(platform.advance, timedelta(seconds=seconds))
    return success({"now": platform.now().isoformat(), "frozen": platform.clock.frozen})


async def switches(request: Request) -> Response:
    """GET: all switches. POST: change some. DELETE: back to the defaults."""
    platform = _local(request)
    if request.method == "DELETE":
        platform.switches = Switches()
    elif request.method == "POST":
        try:
            platform.set(**await json_object(request))
        except UnknownSwitchError as error:
            raise Invalid([FieldError(None, str(error))]) from error
    return success(asdict(platform.switches))


async def faults(request: Request) -> Response:
    """GET: rules and hits. POST `{"preset": "flaky"}` or `{"rules": [...], "seed": 7}`. DELETE: none."""
    return success(await _rules(request, _local(request).faults, PRESETS, _FAULTS))


async def webhook_faults(request: Request) -> Response:
    """Return the same for the sender of webhooks; its presets are `unreliable` and `hostile`."""
    sender = _local(request).events.deliveries
    return success(await _rules(request, sender.faults, WEBHOOK_PRESETS, _WEBHOOK_FAULTS))


async def _rules(
    request: Request, strikes: Strikes[Any], presets: Mapping[str, Sequence[Any]], adapter: TypeAdapter[list[Any]]
) -> dict[str, Any]:
    if request.method == "DELETE":
        strikes.set(())
    elif request.method == "POST":
        body: dict[str, Any] = await json_object(request)
        try:
            rules = presets[body["preset"]] if "preset" in body else adapter.validate_python(body.get("rules"))
        except (KeyError, ValidationError) as error:
            raise Invalid([FieldError("rules", f"not faults: {error}")]) from error
        strikes.set(rules, body.get("seed"))
    return strikes.as_json()


async def mutate(request: Request) -> Response:
    """POST `{"practice_id", "list", "insert": [{}], "update": {id: {}}, "delete": [id]}`: write rows."""
    platform = _local(request)
    body: dict[str, Any] = await json_object(request)
    table = _table(request, body.get("practice_id"), body.get("list"))
    try:
        writes = _WRITES.validate_python(body)
    except ValidationError as error:
        raise Invalid(
            [FieldError(".".join(map(str, one["loc"])), one["msg"]) for one in error.errors()]
        ) from error
    with platform.lock:
        now = platform.now()
        try:
            for row_id, changes in writes.update.items():
                table.update(row_id, changes, now, platform.switches)
            for row_id in writes.delete:
                table.delete(row_id, now, platform.switches)
            inserted = [table.insert(record, now) for record in writes.insert]
        except NoSuchRowError as error:
            raise Refusal(404, f"no row with id {error}") from error
        except NotFilterableError as error:
            raise Invalid([FieldError(error.field, str(error))]) from error
    return success({"inserted": inserted})


async def truth(request: Request) -> Response:
    """GET `?practice_id=&list=`: the whole list as it is now, oldest first, one JSON record a line."""
    platform = _local(request)
    practice_id, name = (request.query_params.get(key, "") for key in ("practice_id", "list"))
    _table(request, practice_id, name)

    def lines() -> Iterator[bytes]:
        for record in platform.truth(practice_id, name):
            yield orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)

    return StreamingResponse(lines(), media_type="application/x-ndjson")


async def requests(request: Request) -> Response:
    """GET: how many requests each path has had. DELETE: count from zero again."""
    platform = _local(request)
    if request.method == "DELETE":
        platform.requests.clear()
    return success({"total": len(platform.requests), "by_path": platform.requests.by_path()})


async def webhooks(request: Request) -> Response:
    """GET: every attempt to deliver a webhook, oldest first."""
    platform = _local(request)
    return success([asdict(attempt) for attempt in platform.events.deliveries.log])


ROUTES = [
    Route("/clock", clock, methods=["GET", "POST"]),
    Route("/switches", switches, methods=["GET", "POST", "DELETE"]),
    Route("/faults", faults, methods=["GET", "POST", "DELETE"]),
    Route("/webhook_faults", webhook_faults, methods=["GET", "POST", "DELETE"]),
    Route("/mutate", mutate, methods=["POST"]),
    Route("/truth", truth),
    Route("/webhooks", webhooks),
    Route("/requests", requests, methods=["GET", "DELETE"]),
]


def _local(request: Request) -> Any:  # noqa: ANN401 - Platform
    if request.client is None or not ip_address(request.client.host).is_loopback:
        raise Refusal(403, "The control interface answers this machine only")
    return platform_of(request)


def _table(request: Request, practice_id: object, name: object) -> Table:
    platform = platform_of(request)
    faults = []
    if practice_id not in platform.world.practices:
        faults.append(
            FieldError("practice_id", f"practice_id must be one of: {', '.join(platform.world.practices)}")
        )
    if name not in RESOURCES:
        faults.append(FieldError("list", f"list must be one of: {', '.join(RESOURCES)}"))
    if faults:
        raise Invalid(faults)
    return platform.table(str(practice_id), str(name))
