"""Phone calls, as JSON and as CSV (contract: List phone calls)."""

import polars as pl
from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.contract import CSV_DEFAULT_SIZE, DEFAULT_SIZE
from vetl_sandbox.platform import Platform
from vetl_sandbox.server.auth import platform_of, practice_of
from vetl_sandbox.server.calls_csv import render_csv
from vetl_sandbox.server.envelopes import json_response
from vetl_sandbox.server.lists import Paging, page_body, read_paging
from vetl_sandbox.server.query import Query, day_range
from vetl_sandbox.table import Matches, Snapshot, Table
from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.practices import Practice


async def phone_calls(request: Request) -> Response:
    """Return one page of calls; the CSV has its totals in headers."""
    platform, practice = platform_of(request), practice_of(request)
    query = Query(request.query_params)
    as_csv = _wants_csv(request, query)
    chosen = _chosen(query, platform, practice)
    client_id = query.text(platform.switches.client_parameter)
    switches = platform.switches.phone_calls
    most = platform.switches.csv_maximum_size if as_csv else switches.maximum_size
    paging = read_paging(query, switches, CSV_DEFAULT_SIZE if as_csv else DEFAULT_SIZE, most)
    query.finish(refuse_unknown=platform.switches.unknown_parameters == "refused")
    with platform.lock:
        table = platform.table(practice.id, "phone_calls")
        snapshot = table.snapshot(platform.now(), platform.switches)
        key = snapshot.serial, request.url.query, as_csv
        page = platform.cached(key)
        if page is None or not switches.keeps_places:
            if client_id is not None:
                chosen &= table.of_client(client_id, snapshot)
            rows = snapshot.matches(switches, chosen)
            page = _page(table, snapshot, rows, paging, as_csv=as_csv)
            platform.keep(key, *page)
    body, headers = page
    return Response(body, 200, headers, "text/csv") if as_csv else json_response(body)


def _wants_csv(request: Request, query: Query) -> bool:
    return query.choice("format", ("csv", "json")) == "csv" or "text/csv" in request.headers.get("accept", "")


def _chosen(query: Query, platform: Platform, practice: Practice) -> pl.Expr:
    """Return the rows that every given filter lets through; unknown enum values are refused, except outcomes."""
    chosen = day_range(query.day("start_date"), query.day("end_date"), practice.zone)
    for name, vocabulary in (
        ("direction", v.DIRECTIONS),
        ("state", v.CALL_STATES),
        ("call_classification", v.CLASSIFICATIONS),
    ):
        value = query.choice(name, vocabulary.values)
        if value is not None:
            chosen &= pl.col(name) == value
    outcomes = query.texts("outcome")
    if outcomes:
        chosen &= pl.col("outcome").cast(pl.String).is_in(outcomes)
    intent = query.flag(platform.switches.booking_intent_parameter)
    if intent is not None:
        chosen &= pl.col("booking_intent") == intent
    return chosen


def _page(
    table: Table, snapshot: Snapshot, rows: Matches, paging: Paging, *, as_csv: bool
) -> tuple[bytes, dict[str, str]]:
    if as_csv:
        return render_csv(table, snapshot, paging.cut(rows)), _csv_headers(rows, paging)
    return page_body(table, snapshot, rows, paging), {}


def _csv_headers(rows: Matches, paging: Paging) -> dict[str, str]:
    return {
        "X-Total-Count": str(paging.total(rows)),
        "X-Page": str(paging.number),
        "X-Per-Page": str(paging.size),
        "X-Total-Pages": str(paging.pages(rows)),
        "Content-Disposition": 'attachment; filename="phone_calls.csv"',
    }
