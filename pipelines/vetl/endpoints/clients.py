"""Clients, read by the ids that other rows mention (contract: Clients and patients)."""

from vetl.core.endpoint import ByReference, Endpoint
from vetl.partner.models import Client

CLIENTS = Endpoint(
    name="clients",
    path="clients",
    table="clients",
    record=Client,
    strategy=ByReference(
        mentions=(
            ("phone_calls", "client_id"),
            ("ai_outbound_requests", "client_id"),
            ("staff_tasks", "client_id"),
        )
    ),
)
