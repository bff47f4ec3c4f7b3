"""AI outbound requests as a partner creates them, and clients without a past for them."""

from typing import Any

import httpx
from support.partner_side import Partner, Row, made

REQUESTS = "ai_outbound/requests"
NUMBER = "+12125550139"
"""The number of a client who never answers."""


def reach_out(partner: Partner, **fields: Any) -> httpx.Response:
    """Create a request; None leaves a field out."""
    body = {"contact_number": NUMBER, **fields}
    answer = partner.post(REQUESTS, {name: value for name, value in body.items() if value is not None})
    partner.platform.settle()
    return answer


def number(ending: str) -> str:
    """Return the number of a client who behaves as these digits say (`sandbox.messages.numbers`)."""
    return f"+121255501{ending}"


def newcomer(partner: Partner, phone: str = NUMBER) -> Row:
    """Return a client with a pet and without calls, appointments or messages so far."""
    pet = {"id": "900", "name": "Rex", "client_id": "901", "species": "dog", "breed": "Mixed"}
    client = {"id": "901", "name": "Ann Other", "phone": phone, "remote_id": "77", "patients": [pet]}
    partner.platform.insert("loc-001", "patients", pet)
    partner.platform.insert("loc-001", "clients", client | {"remote_client_id": "77"})
    return client


def ended(partner: Partner, hours: float, **fields: Any) -> Row:
    """Return a request some hours after it was created."""
    request = made(reach_out(partner, **fields))
    partner.later(hours=hours)
    return partner.page(f"{REQUESTS}/{request['id']}")
