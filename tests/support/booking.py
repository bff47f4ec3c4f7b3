"""Appointments as a partner creates them."""

from typing import Any

from support.partner_side import Partner, Row


def booking(partner: Partner, **fields: Any) -> Row:
    """Return a body for the first client, its patient and the next open time; None leaves a field out."""
    client = partner.truth("clients")[0]
    body = {
        "slot_id": partner.page("open_times")[0]["uuid"],
        "client_id": int(client["id"]),
        "patient_id": int(client["patients"][0]["id"]),
        **fields,
    }
    return {name: value for name, value in body.items() if value is not None}
