"""Clients and patients (contract: Clients and patients): plain arrays, no pages."""

import polars as pl
from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.contract import MOST_CLIENTS
from vetl_sandbox.server.auth import platform_of, practice_of
from vetl_sandbox.server.envelopes import success
from vetl_sandbox.server.query import Query


async def clients(request: Request) -> Response:
    """Return the clients that match the given name, email and phone; at least one is required."""
    platform, practice = platform_of(request), practice_of(request)
    query = Query(request.query_params)
    name, email, phone = (query.text(field) for field in ("name", "email", "phone"))
    if name is None and email is None and phone is None:
        query.fault(None, "At least one of name, email, phone is required")
    query.finish(refuse_unknown=platform.switches.unknown_parameters == "refused")
    chosen = _holds("name", name)
    if email is not None:
        chosen &= pl.col("email").str.to_lowercase() == email.lower()
    if phone is not None:
        chosen &= pl.col("phone") == phone
    with platform.lock:
        table = platform.table(practice.id, "clients")
        snapshot = table.snapshot(platform.now(), platform.switches)
        return success(table.records(snapshot.frame.filter(chosen).head(MOST_CLIENTS), snapshot))


async def patients(request: Request) -> Response:
    """Return the patients of one client."""
    platform, practice = platform_of(request), practice_of(request)
    query = Query(request.query_params)
    client_id, name = query.text("client_id"), query.text("name")
    if client_id is None:
        query.fault("client_id", "client_id is required")
    query.finish(refuse_unknown=platform.switches.unknown_parameters == "refused")
    with platform.lock:
        table = platform.table(practice.id, "patients")
        snapshot = table.snapshot(platform.now(), platform.switches)
        owned = table.of_client(client_id or "", snapshot)
        return success(table.records(snapshot.frame.filter(owned & _holds("name", name)), snapshot))


def _holds(column: str, text: str | None) -> pl.Expr:
    if text is None:
        return pl.lit(True)
    return pl.col(column).str.to_lowercase().str.contains(text.lower(), literal=True)
