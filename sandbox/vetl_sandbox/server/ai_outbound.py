"""Creating AI outbound requests: the contract shows no path for it, so this path is the sandbox's own.

The contract says: `partner_request_id` makes it idempotent, 200 when suppressed at intake, 201 accepted.
"""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.platform import Platform
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.server.auth import json_object, platform_of, practice_of
from vetl_sandbox.server.body import Body
from vetl_sandbox.server.envelopes import success
from vetl_sandbox.world import vocabulary as v
from vetl_sandbox.world.practices import Practice


async def create_request(request: Request) -> Response:
    """Create a request to contact a client, named by `client_id` or `contact_number`."""
    platform, practice = platform_of(request), practice_of(request)
    body = Body(await json_object(request))
    with platform.lock:
        fields, callback = _fields(body, platform, practice)
        table = platform.table(practice.id, "ai_outbound")
        partner_id = fields["partner_request_id"]
        existing = None if partner_id is None else table.get(partner_id, platform.now(), platform.switches)
        body.finish()
        row_id = existing["id"] if existing else platform.desk.create_outreach(practice, fields, callback)
        rendered = table.rendered(row_id, platform.now(), platform.switches)
    suppressed = existing is None and rendered["status"] == "suppressed"
    return success(rendered, status=200 if suppressed or existing is not None else 201)


def _fields(body: Body, platform: Platform, practice: Practice) -> tuple[dict[str, Any], str | None]:
    directory = platform.directory(practice.id)
    client_id, phone = body.text("client_id"), body.phone("contact_number")
    if client_id is None and not body.has("contact_number"):
        body.fault(None, "client_id or contact_number is required")
    client: Record | None = None
    if client_id is not None:
        client = directory.client(client_id)
        if client is None:
            body.fault("client_id", "No such client")
    elif phone is not None:
        client = directory.client_with_phone(phone)
    patient_id = body.text("patient_id")
    if patient_id is not None and directory.patient(patient_id) is None:
        body.fault("patient_id", "No such patient")
    fields = {
        "partner_request_id": body.text("partner_request_id"),
        "channel": body.choice("channel", v.CHANNELS.values) or "sms",
        "purpose": body.choice("purpose", v.PURPOSES.values) or "general",
        "status": "received",
        "client_id": None if client is None else str(client["id"]),
        "patient_id": patient_id,
        "contact_number": phone or (client["phone"] if client else None),
        "context": body.text("context"),
    }
    return fields, body.uri("callback_url", platform.switches.callback_schemes)
