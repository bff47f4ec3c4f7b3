"""Paged lists and single records of the contract."""

from dataclasses import dataclass
from typing import Any

import polars as pl
from starlette.requests import Request
from starlette.responses import Response

from sandbox.resources.registry import RESOURCES
from sandbox.server.auth import platform_of, practice_of
from sandbox.server.envelopes import Refusal, encoded, json_response
from sandbox.server.query import Query, updated_range
from sandbox.switches import ListSwitches
from sandbox.table import Matches, Snapshot, Table
from sandbox.world.practices import Practice

MAXIMUM_SIZE = 100
"""Rows on a page of JSON, whatever the list (contract: Limits)."""


@dataclass(frozen=True)
class Paging:
    """Which page is wanted, and how large it is. `number` counts from the list's page base."""

    number: int
    size: int
    base: int = 0

    def cut(self, rows: Matches) -> pl.DataFrame:
        """The rows of this page."""
        return rows.slice((self.number - self.base) * self.size, self.size)

    def pages(self, rows: int) -> int:
        """How many pages that many rows fill."""
        return -(-rows // self.size)


def read_paging(query: Query, switches: ListSwitches, default: int, maximum: int) -> Paging:
    """The page that a request asks for; an over-large size is made smaller or refused, as switched."""
    number = query.integer(switches.page, switches.page_base, switches.page_base)
    size = query.integer(switches.per_page, default, 1)
    if size > maximum and switches.over_large == "refuse":
        query.fault(switches.per_page, f"{switches.per_page} must be at most {maximum}")
    return Paging(number, min(size, maximum), switches.page_base)


def page_body(
    table: Table, snapshot: Snapshot, rows: Matches, paging: Paging, *, with_total_pages: bool = True
) -> bytes:
    """One page in the envelope of lists."""
    data: dict[str, Any] = {"page": paging.number, "per_page": paging.size}
    if with_total_pages:
        data["total_pages"] = paging.pages(len(rows))
    data["total_count"] = len(rows)
    return encoded(data | {"content": table.records(paging.cut(rows), snapshot)})


async def booking_sessions(request: Request) -> Response:
    """Contract: Booking sessions. Without `total_pages`."""
    return _list(request, "booking_sessions", ranged=True)


async def appointments(request: Request) -> Response:
    """Contract: List appointments (proposed); gone when switched so."""
    platform = platform_of(request)
    practice_of(request)
    if platform.switches.appointments_withdrawn is not None:
        raise Refusal(platform.switches.appointments_withdrawn, "This endpoint is not available")
    return _list(request, "appointments", ranged=True)


async def ai_outbound(request: Request) -> Response:
    """Contract: List requests."""
    return _list(request, "ai_outbound", ranged=False)


async def staff_tasks(request: Request) -> Response:
    """Contract: Staff tasks, List."""
    return _list(request, "staff_tasks", ranged=False)


def _list(request: Request, name: str, *, ranged: bool) -> Response:
    platform, practice = platform_of(request), practice_of(request)
    switches = platform.switches.for_list(name)
    query = Query(request.query_params)
    chosen = _chosen(query, name, switches, practice, ranged=ranged)
    paging = read_paging(query, switches, switches.default_size, MAXIMUM_SIZE)
    query.finish(refuse_unknown=platform.switches.unknown_parameters == "refused")
    with platform.lock:
        table = platform.table(practice.id, name)
        snapshot = table.snapshot(platform.now(), platform.switches)
        key = snapshot.serial, request.url.query
        known = platform.cached(key)
        if known is not None:
            return json_response(known[0])
        rows = snapshot.matches(switches.order, chosen)
        body = page_body(table, snapshot, rows, paging, with_total_pages=name != "booking_sessions")
        platform.keep(key, body, None)
    return json_response(body)


def _chosen(query: Query, name: str, switches: ListSwitches, practice: Practice, *, ranged: bool) -> pl.Expr:
    chosen = pl.lit(True)
    if ranged:
        days_only = switches.instants == "refused"
        start = query.bound(switches.start, required=switches.start_required, days_only=days_only)
        end = query.bound(switches.end, days_only=days_only)
        chosen &= updated_range(start, end, switches, practice.zone)
    statuses = RESOURCES[name].statuses
    if not statuses:
        return chosen
    if switches.unknown_status == "refuse":
        status = query.choice(switches.status, statuses)
    else:
        status = query.text(switches.status)
    if status in statuses:
        return chosen & (pl.col("status") == status)
    nothing = status is not None and switches.unknown_status == "nothing"
    return chosen & pl.lit(not nothing)
