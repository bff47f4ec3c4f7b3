"""Single records by their id (contract: the `{id}` endpoints)."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.platform import Platform
from vetl_sandbox.server.auth import platform_of, practice_of
from vetl_sandbox.server.envelopes import Refusal, encoded, json_response
from vetl_sandbox.table import Snapshot, Table

_RENDERED_TOGETHER: Final = 128
"""A client that gets one record gets its neighbours next, and to render twelve costs hardly more than one."""


def getter(name: str) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler that gets one record of a list by its id, or its partner's id: 404 if there is none."""

    async def get(request: Request) -> Response:
        platform, practice = platform_of(request), practice_of(request)
        with platform.lock:
            body = _body(platform, platform.table(practice.id, name), request.path_params["id"])
        return json_response(body)

    return get


def _body(platform: Platform, table: Table, row_id: str) -> bytes:
    snapshot = table.snapshot(platform.now(), platform.switches)
    match = table.find(row_id, snapshot)
    if match is None:
        raise Refusal(404, "Not found")
    if not isinstance(match, int):
        return encoded(table.stamped(match, snapshot.switches))
    block, place = divmod(match, _RENDERED_TOGETHER)
    key = snapshot.serial, "records", block
    rendered = platform.cached(key)
    if rendered is None:
        rendered = _rendered(table, snapshot, block)
        platform.keep(key, *rendered)
    bodies, ends = rendered
    return bodies[ends[place] : ends[place + 1]]


def _rendered(table: Table, snapshot: Snapshot, block: int) -> tuple[bytes, list[int]]:
    """Return the answers of a block of drawn rows in one string, and where each begins and ends."""
    first = block * _RENDERED_TOGETHER
    rows = snapshot.frame.slice(first, min(_RENDERED_TOGETHER, len(snapshot.numbers) - first))
    bodies, ends = bytearray(), [0]
    for record in table.records(rows, snapshot):
        bodies += encoded(record)
        ends.append(len(bodies))
    return bytes(bodies), ends
