"""Appointments (contract: Appointment; List appointments, proposed)."""

from typing import Final

import polars as pl

from vetl_sandbox.openapi.shapes import TEXT, nullable
from vetl_sandbox.resources.booking_sessions import remote_appointment_id
from vetl_sandbox.resources.resource import Resource, Scene, with_people
from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.lives import INSTANT

FIELDS: Final = (
    "id", "remote_id", "remote_client_id", "remote_patient_id", "status", "booking_date", "end_date",
    "created_at", "updated_at", "referral_source", "referral_campaign", "referral_medium",
    "client_first_name", "client_last_name", "client_email", "client_phone", "client_type", "patient_name",
)  # fmt: skip


def render(rows: pl.DataFrame, scene: Scene) -> pl.DataFrame:
    """Return appointments with the fields of the contract."""
    return with_people(rows, scene.people).select(
        "status",
        "booking_date",
        "end_date",
        "created_at",
        "updated_at",
        "referral_source",
        "referral_campaign",
        "referral_medium",
        "client_first_name",
        "client_last_name",
        "client_email",
        "client_phone",
        "client_type",
        "patient_name",
        remote_id=pl.when("remote").then(remote_appointment_id("number")),
        remote_client_id="client_remote_client_id",
        remote_patient_id="patient_remote_patient_id",
    )


APPOINTMENTS: Final = Resource(
    name="appointments",
    path="appointments",
    record="Appointment",
    section="Appointments",
    fields=FIELDS,
    render=render,
    filterable={"created_at": INSTANT, "updated_at": INSTANT},
    has_range=True,
    has_get=False,
    schemas={"status": nullable(TEXT | {"description": f"Among others {', '.join(v.SETTABLE_STATUSES.values)}"})},
)
