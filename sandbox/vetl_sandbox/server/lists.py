"""Paged lists and single records of the contract."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl
from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.contract import DEFAULT_SIZE
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.resources.resource import Resource
from vetl_sandbox.server.auth import platform_of, practice_of
from vetl_sandbox.server.envelopes import Refusal, encoded, json_response
from vetl_sandbox.server.query import Query, updated_range
from vetl_sandbox.switches import ListSwitches
from vetl_sandbox.table import Matches, Snapshot, Table
from vetl_sandbox.world.practices import Practice


@dataclass(frozen=True)
class Paging:
    """The page that a request wants, and its size. `number` counts from the list's page base."""

    number: int
    size: int
    base: int = 0
    told_total: int | None = None

    def cut(self, rows: Matches) -> pl.DataFrame:
        """Return the rows of this page."""
        return rows.slice((self.number - self.base) * self.size, self.size)

    def total(self, rows: Matches) -> int:
        """Return how many rows the answer says there are."""
        return len(rows) if self.told_total is None else self.told_total

    def pages(self, rows: Matches) -> int:
        """Return how many pages the answer says these rows fill."""
        return -(-self.total(rows) // self.size)


def read_paging(query: Query, switches: ListSwitches, default: int, maximum: int) -> Paging:
    """Return the page that a request asks for; an over-large size is made smaller or refused, as switched."""
    base = switches.page_base
    number = query.integer(switches.page, base, base)
    default = min(default, maximum)
    size = query.integer(switches.per_page, default, 1)
    if size > maximum and switches.over_large == "refuse":
        query.fault(switches.per_page, f"{switches.per_page} must be at most {maximum}")
    number = base if "page" in switches.ignored else number
    size = default if "per_page" in switches.ignored else size
    return Paging(number, min(size, maximum), base, switches.told_total)


def page_body(table: Table, snapshot: Snapshot, rows: Matches, paging: Paging) -> bytes:
    """Return one page in the envelope of lists."""
    data: dict[str, Any] = {"page": paging.number, "per_page": paging.size}
    if table.resource.has_total_pages:
        data["total_pages"] = paging.pages(rows)
    data["total_count"] = paging.total(rows)
    empty = snapshot.switches.for_list(table.resource.name).empty_rows
    return encoded(data | {"content": [[]] * empty or table.records(paging.cut(rows), snapshot)})


async def appointments(request: Request) -> Response:
    """Contract: List appointments (proposed); gone if a switch says so."""
    platform = platform_of(request)
    practice_of(request)
    if platform.switches.appointments_withdrawn is not None:
        raise Refusal(platform.switches.appointments_withdrawn, "This endpoint is not available")
    return _list(request, RESOURCES["appointments"])


def lister(resource: Resource) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler that shows the pages of a list."""

    async def show(request: Request) -> Response:
        return _list(request, resource)

    return show


def _list(request: Request, resource: Resource) -> Response:
    platform, practice = platform_of(request), practice_of(request)
    switches = platform.switches.for_list(resource.name)
    query = Query(request.query_params)
    chosen = _chosen(query, resource, switches, practice, platform.now())
    paging = read_paging(query, switches, DEFAULT_SIZE, switches.maximum_size)
    query.finish(refuse_unknown=platform.switches.unknown_parameters == "refused")
    with platform.lock:
        table = platform.table(practice.id, resource.name)
        snapshot = table.snapshot(platform.now(), platform.switches)
        key = snapshot.serial, request.url.query
        page = platform.cached(key)
        if page is not None and switches.keeps_places:
            return json_response(page[0])
        rows = snapshot.matches(switches, chosen)
        body = page_body(table, snapshot, rows, paging)
        platform.keep(key, body, None)
    return json_response(body)


def _chosen(
    query: Query, resource: Resource, switches: ListSwitches, practice: Practice, now: datetime
) -> pl.Expr:
    """Return the rows that every filter lets through."""
    chosen = pl.lit(True)
    if resource.has_range:
        days_only = switches.instants == "refused"
        start = query.bound(switches.start, required=switches.start_required, days_only=days_only)
        end = query.bound(switches.end, days_only=days_only)
        chosen &= updated_range(start, end, switches, practice.zone, now)
    statuses = resource.statuses
    if not statuses:
        return chosen
    if switches.unknown_status == "refuse":
        status = query.choice(switches.status, statuses)
    else:
        status = query.text(switches.status)
    if "status" in switches.ignored:
        return chosen
    if status in statuses:
        return chosen & (pl.col("status") == status)
    nothing = status is not None and switches.unknown_status == "nothing"
    return chosen & pl.lit(not nothing)
