"""The eligibility gates of outreach (contract: `suppression_reason` values)."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import polars as pl

from vetl_sandbox.messages.numbers import behaviour
from vetl_sandbox.messages.store import Messages
from vetl_sandbox.resources.resource import Record, instant
from vetl_sandbox.switches import Switches
from vetl_sandbox.table import Table

RECENT: Final = timedelta(hours=72)
_RECENT_VISIT: Final = timedelta(days=14)


@dataclass(frozen=True)
class Past:
    """A practice's dealings with a client so far."""

    practice_id: str
    calls: Table
    requests: Table
    appointments: Table
    messages: Messages
    now: datetime
    switches: Switches


def closed_gate(request: Record, past: Past, remote_client_id: str | None) -> str | None:
    """Return the reason why a client must not be contacted now, if there is a reason."""
    if request["channel"] == "voice":
        return "voice_not_supported"
    if past.messages.refusal(past.practice_id, request["contact_number"]) == "opted_out":
        return "sms_opted_out"
    if behaviour(request["contact_number"]) == "notifications_disabled":
        return "notifications_disabled"
    client_id = request["client_id"]
    if client_id is None:
        return None
    others = _rows(past.requests, client_id, past).filter(~_is(past.requests, request["id"], past))
    if (others["status"] == "in_progress").any():
        return "active_conversation"
    if _recently_contacted(client_id, others, past):
        return "recent_contact"
    if request["purpose"] == "scheduling" and _has_appointment(client_id, remote_client_id, past):
        return "recent_or_upcoming_appointment"
    return None


def _recently_contacted(client_id: str, requests: pl.DataFrame, past: Past) -> bool:
    since = past.now - RECENT
    calls = _rows(past.calls, client_id, past).filter(
        (pl.col("created_at") >= since) & (pl.col("state") == "completed")
    )
    texted = requests.filter(pl.col("contacted_at") >= since)
    return calls.height > 0 or texted.height > 0 or past.messages.texted(past.practice_id, client_id, since)


def _has_appointment(client_id: str, remote_client_id: str | None, past: Past) -> bool:
    since = past.now - _RECENT_VISIT
    drawn = _rows(past.appointments, client_id, past).filter(
        (pl.col("booking_date") >= since) & (pl.col("status") != "CANCELED")
    )
    written = past.appointments.snapshot(past.now, past.switches).written
    return drawn.height > 0 or any(
        remote_client_id is not None
        and row.get("remote_client_id") == remote_client_id
        and (instant(row.get("booking_date")) or since) > since
        for row in written
    )


def _rows(table: Table, client_id: str, past: Past) -> pl.DataFrame:
    snapshot = table.snapshot(past.now, past.switches)
    return snapshot.frame.filter(table.of_client(client_id, snapshot))


def _is(table: Table, row_id: str, past: Past) -> pl.Expr:
    """Return whether a row is that of this written record."""
    written = table.snapshot(past.now, past.switches).written
    places = [place for place, row in enumerate(written) if row.get("id") == row_id]
    return pl.col("written").is_in(places).fill_null(value=False)
