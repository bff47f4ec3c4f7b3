"""Phone calls (contract: Phone call record; List phone calls)."""

from datetime import datetime
from typing import Final

import polars as pl

from vetl_sandbox.openapi.shapes import FLAG, INTEGER, OPEN, choice, nullable
from vetl_sandbox.resources.resource import Resource, Scene, text_id, with_people
from vetl_sandbox.switches import Switches
from vetl_sandbox.world import text, vocabulary as v
from vetl_sandbox.world.lives import INSTANT

FIELDS: Final = (
    "id", "created_at", "practice_name", "direction", "state", "caller_type", "client_id", "remote_client_id",
    "client_name", "patient_id", "remote_patient_id", "patient_name", "phone_number", "call_classification",
    "summary", "customer_sentiment", "outcome", "booked", "booking_intent", "duration_seconds",
)  # fmt: skip


def derive(rows: pl.DataFrame, now: datetime, switches: Switches) -> pl.DataFrame:  # noqa: ARG001 - see Resource.derive
    """Keep the calls of the switched day in progress for ever."""
    unfinished = pl.col("created_at").dt.date() == pl.lit(switches.unfinished_calls_on, pl.Date)
    state = pl.when(unfinished.fill_null(value=False)).then(pl.lit("in_progress")).otherwise("state")
    return rows.with_columns(state=state.cast(v.CALL_STATES.dtype))


def render(rows: pl.DataFrame, scene: Scene) -> pl.DataFrame:
    """Return calls with the fields of the contract."""
    practice = scene.practice
    # A number that no client has: no client's number begins with 9 behind the area code.
    stranger = pl.format(
        f"{practice.country_code}{practice.area_code}9{{}}", pl.col("line").cast(pl.String).str.zfill(6)
    )
    joined = with_people(rows, scene.people)
    return joined.select(
        "created_at",
        "direction",
        "state",
        "caller_type",
        "call_classification",
        "customer_sentiment",
        "outcome",
        "booked",
        "booking_intent",
        "duration_seconds",
        "client_name",
        "patient_name",
        practice_name=pl.lit(practice.name),
        client_id=text_id("client_number"),
        remote_client_id="client_remote_client_id",
        patient_id=text_id("patient_number"),
        remote_patient_id="patient_remote_patient_id",
        phone_number=pl.col("client_phone").fill_null(stranger),
        summary=text.call_summaries(joined["summary"], joined["patient_name"]),
    )


PHONE_CALLS: Final = Resource(
    name="phone_calls",
    path="phone_calls",
    record="PhoneCall",
    section="Phone calls",
    fields=FIELDS,
    prefix="call",
    render=render,
    derive=derive,
    filterable={
        "created_at": INSTANT,
        "direction": v.DIRECTIONS.dtype,
        "state": v.CALL_STATES.dtype,
        "outcome": v.OUTCOMES.dtype,
        "call_classification": v.CLASSIFICATIONS.dtype,
        "booking_intent": pl.Boolean(),
    },
    schemas={
        "direction": choice(v.DIRECTIONS.values),
        "state": choice(v.CALL_STATES.values),
        "caller_type": choice(
            v.CALLER_TYPES.values,
            description="existing: had a visit before this call. new: matched, without. unknown: never matched.",
        ),
        "call_classification": nullable(choice(v.CLASSIFICATIONS.values)),
        "customer_sentiment": nullable(OPEN),
        "outcome": nullable(choice(v.OUTCOMES.values)),
        "booked": FLAG | {"description": f"Whether the outcome is one of {', '.join(v.BOOKED_OUTCOMES)}"},
        "booking_intent": FLAG,
        "duration_seconds": nullable(INTEGER),
    },
)
