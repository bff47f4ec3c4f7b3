"""Booking sessions (contract: Booking session; States and transitions). The status is derived on reading."""

from datetime import datetime, timedelta
from typing import Final

import polars as pl

from vetl_sandbox.openapi.shapes import OPEN, choice, nullable
from vetl_sandbox.resources.resource import Record, Resource, Scene, instant, text_id
from vetl_sandbox.switches import Switches
from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.lives import INSTANT

FIELDS: Final = (
    "id", "status", "stage", "client_type", "appointment_id", "remote_appointment_id", "referral_source",
    "referral_campaign", "referral_medium", "created_at", "updated_at", "last_activity_at",
)  # fmt: skip


def expires(switches: Switches) -> pl.Expr:
    """Return when a session is abandoned if nothing happens."""
    return pl.col("last_activity_at") + timedelta(minutes=switches.session_expiry_minutes)


def derive(rows: pl.DataFrame, now: datetime, switches: Switches) -> pl.DataFrame:
    """Add the status: completed with an appointment, else active until it expires, else abandoned.

    No time stamp of the record shows an expiry.
    """
    status = (
        pl.when(pl.col("appointment").is_not_null())
        .then(pl.lit("completed"))
        .when(expires(switches) > now)
        .then(pl.lit("active"))
        .otherwise(pl.lit("abandoned"))
    )
    return rows.with_columns(status=status.cast(v.SESSION_STATUSES.dtype))


def derive_record(record: Record, now: datetime, switches: Switches) -> Record:
    """Apply the same rule to a session that was written."""
    if record.get("appointment_id") is not None:
        return record | {"status": "completed"}
    last = instant(record.get("last_activity_at"))
    active = last is not None and last + timedelta(minutes=switches.session_expiry_minutes) > now
    return record | {"status": "active" if active else "abandoned"}


def render(rows: pl.DataFrame, scene: Scene) -> pl.DataFrame:  # noqa: ARG001 - the shape of Resource.render
    """Return sessions with the fields of the contract."""
    return rows.select(
        "status",
        "stage",
        "client_type",
        "referral_source",
        "referral_campaign",
        "referral_medium",
        "created_at",
        "updated_at",
        "last_activity_at",
        appointment_id=text_id("appointment"),
        remote_appointment_id=pl.when("remote_appointment").then(remote_appointment_id("appointment")),
    )


def remote_appointment_id(column: str) -> pl.Expr:
    """Return an appointment's id in the practice management system."""
    return pl.format("A{}", pl.col(column) % 1_000_000_007)


BOOKING_SESSIONS: Final = Resource(
    name="booking_sessions",
    path="booking_sessions",
    record="BookingSession",
    section="Booking sessions",
    fields=FIELDS,
    prefix="session",
    render=render,
    filterable={
        "created_at": INSTANT,
        "updated_at": INSTANT,
        "last_activity_at": INSTANT,
        "status": v.SESSION_STATUSES.dtype,
    },
    statuses=v.SESSION_STATUSES.values,
    derive=derive,
    derive_record=derive_record,
    expires=expires,
    has_range=True,
    has_total_pages=False,
    schemas={
        "status": choice(v.SESSION_STATUSES.values, description="Derived when it is read."),
        "stage": nullable(OPEN),
        "client_type": nullable(OPEN),
    },
)
