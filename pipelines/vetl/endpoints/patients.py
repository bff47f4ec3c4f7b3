"""Patients (pets), read by the ids that other rows mention (contract: Clients and patients)."""

from vetl.core.endpoint import ByReference, Endpoint
from vetl.partner.models import Patient

PATIENTS = Endpoint(
    name="patients",
    path="patients",
    table="patients",
    record=Patient,
    strategy=ByReference(
        mentions=(
            ("phone_calls", "patient_id"),
            ("ai_outbound_requests", "patient_id"),
            ("staff_tasks", "patient_id"),
        )
    ),
)
