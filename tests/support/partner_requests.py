"""Messages, AI outbound requests and appointments as a partner creates them, and clients without a past."""

from typing import Any

import httpx
from support.partner_side import Partner, Row, made

PHONE = "+12125550139"
"""An ordinary number: of a client who never answers, and a handset without RCS."""
RCS_PHONE = "+12125550138"
REQUESTS = "ai_outbound/requests"


def number(ending: str) -> str:
    """Return the number of a client who behaves as these digits say (`vetl_sandbox.messages.numbers`)."""
    return f"+121255501{ending}"


def to(ending: str) -> Row:
    return {"phone_number": number(ending)}


def send(partner: Partner, **fields: Any) -> httpx.Response:
    """Create a message; None leaves a field out."""
    body = {"recipient": {"phone_number": PHONE}, "fallback_text": "Hello", **fields}
    return partner.post("messages", {name: value for name, value in body.items() if value is not None})


def changes_of(partner: Partner, **fields: Any) -> list[tuple[str, str | None]]:
    """Return status and channel of a message at each change in its first minutes."""
    message = made(send(partner, **fields))
    seen = [(message["status"], message["channel_used"])]
    for _ in range(60):
        partner.later(seconds=2)
        now = partner.page(f"messages/{message['id']}")
        if seen[-1] != (now["status"], now["channel_used"]):
            seen.append((now["status"], now["channel_used"]))
    return seen


def reach_out(partner: Partner, **fields: Any) -> httpx.Response:
    """Create a request; None leaves a field out."""
    body = {"contact_number": PHONE, **fields}
    answer = partner.post(REQUESTS, {name: value for name, value in body.items() if value is not None})
    partner.platform.settle()
    return answer


def newcomer(partner: Partner, phone: str = PHONE) -> Row:
    """Return a client with a pet and without calls, appointments or messages so far."""
    pet = {"id": "900", "name": "Rex", "client_id": "901", "species": "dog", "breed": "Mixed"}
    client = {"id": "901", "name": "Ann Other", "phone": phone, "remote_id": "77", "patients": [pet]}
    partner.platform.insert("loc-001", "patients", pet)
    partner.platform.insert("loc-001", "clients", client | {"remote_client_id": "77"})
    return client


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
