"""AI outbound requests (contract: AI outbound request)."""

from typing import Final

import polars as pl

from vetl_sandbox.openapi.shapes import TEXT, choice, nullable
from vetl_sandbox.resources.resource import Resource, Scene, text_id, with_people
from vetl_sandbox.world import text, vocabulary as v
from vetl_sandbox.world.lives import INSTANT

FIELDS: Final = (
    "id", "partner_request_id", "channel", "purpose", "status", "outcome", "suppression_reason",
    "error_message", "client_id", "patient_id", "contact_number", "context", "contacted_at",
    "completed_at", "created_at",
)  # fmt: skip


def render(rows: pl.DataFrame, scene: Scene) -> pl.DataFrame:
    """Return requests with the fields of the contract."""
    error = (
        pl.when(pl.col("outcome") == "undeliverable")
        .then(pl.lit("The carrier reports that the number cannot receive SMS"))
        .when(pl.col("status") == "failed")
        .then(pl.lit("Dispatch did not complete within 96 hours"))
    )
    joined = with_people(rows, scene.people)
    return joined.select(
        "channel",
        "purpose",
        "status",
        "outcome",
        "suppression_reason",
        "contacted_at",
        "completed_at",
        "created_at",
        partner_request_id=pl.when("with_partner_id").then(pl.format("campaign-{}", "number")),
        error_message=error,
        client_id=text_id("client_number"),
        patient_id=text_id("patient_number"),
        contact_number="client_phone",
        context=text.outreach_contexts(joined["context"], joined["patient_name"]),
    )


AI_OUTBOUND: Final = Resource(
    name="ai_outbound",
    path="ai_outbound/requests",
    record="AiOutboundRequest",
    section="AI outbound requests",
    fields=FIELDS,
    prefix="aor",
    second_id=("partner_request_id", "campaign-"),
    render=render,
    filterable={
        "created_at": INSTANT,
        "contacted_at": INSTANT,
        "status": v.REQUEST_STATUSES.dtype,
        "outcome": v.REQUEST_OUTCOMES.dtype,
    },
    statuses=v.REQUEST_STATUSES.values,
    schemas={
        "channel": choice(v.CHANNELS.values),
        "purpose": choice(v.PURPOSES.values),
        "status": choice(v.REQUEST_STATUSES.values),
        "outcome": nullable(choice(v.REQUEST_OUTCOMES.values)),
        "suppression_reason": nullable(
            TEXT | {"description": f"An open list; known are: {', '.join(v.SUPPRESSIONS.values)}"}
        ),
    },
)
