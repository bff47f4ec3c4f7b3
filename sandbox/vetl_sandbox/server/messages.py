"""Creating and getting messages (contract: Messages)."""

from datetime import datetime
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from vetl_sandbox.contract import CHANNELS, FALLBACK_TEXT, SENDING_HOURS
from vetl_sandbox.messages.message import Message, NewMessage
from vetl_sandbox.messages.store import ProviderUnavailableError
from vetl_sandbox.platform import Platform
from vetl_sandbox.server.auth import json_object, platform_of, practice_of
from vetl_sandbox.server.body import Body
from vetl_sandbox.server.envelopes import Refusal, success
from vetl_sandbox.server.message_content import check_content
from vetl_sandbox.stamps import stamped
from vetl_sandbox.world.practices import Practice

_RETRY_AFTER: Final = {"Retry-After": "60"}


async def create_message(request: Request) -> Response:
    """Create a message: 201 sent; 200 suppressed, or the message that this reference already has."""
    platform, practice = platform_of(request), practice_of(request)
    body = Body(await json_object(request))
    with platform.lock:
        if not platform.desk.messages.admits(practice.id):
            raise Refusal(429, "At most 120 messages a minute", _RETRY_AFTER)
        new = _new_message(body, platform, practice)
        reference = new.reference_id if new else body.text("reference_id")
        existing = platform.desk.messages.find(practice.id, reference) if reference else None
        if existing is None:
            _check_time(body, platform.now(), practice)
        body.finish()
        assert new is not None
        if existing is not None:
            return _answer(platform, existing, 200)
        try:
            message = platform.desk.messages.create(practice, new)
        except ProviderUnavailableError:
            raise Refusal(502, "The messaging provider is briefly unavailable") from None
    return _answer(platform, message, 200 if message.status == "suppressed" else 201)


async def get_message(request: Request) -> Response:
    """Return the message with this id or reference."""
    platform, practice = platform_of(request), practice_of(request)
    with platform.lock:
        message = platform.desk.messages.find(practice.id, request.path_params["id"])
        if message is None:
            raise Refusal(404, "Not found")
        return _answer(platform, message, 200)


def _new_message(body: Body, platform: Platform, practice: Practice) -> NewMessage | None:
    """Return the message that a request asks for; None if it names no clear recipient."""
    phone, client_id = _recipient(body, platform, practice)
    body.text("fallback_text", required=True, most=FALLBACK_TEXT)
    channel = body.choice("channel", CHANNELS) or "auto"
    if channel == "rcs" and not practice.rcs_live:
        body.fault("channel", "This practice's RCS sender is not live; use auto or sms")
    content = body.child("content")
    if content is not None:
        check_content(content)
    reference = body.text("reference_id")
    callback = body.uri("callback_url", platform.switches.callback_schemes)
    return None if phone is None else NewMessage(phone, client_id, channel, reference, callback)


def _recipient(body: Body, platform: Platform, practice: Practice) -> tuple[str | None, str | None]:
    """Return the number to text, and its client."""
    recipient = body.child("recipient", required=True)
    if recipient is None:
        return None, None
    client_id, phone = recipient.text("client_id"), recipient.phone("phone_number")
    if client_id is None and not recipient.has("phone_number"):
        recipient.fault(None, "recipient needs client_id or phone_number")
    directory = platform.directory(practice.id)
    client = directory.client(client_id) if client_id is not None else None
    if client_id is not None and client is None:
        recipient.fault("client_id", "No such client")
    if phone is not None and client is None:
        owner = directory.client_with_phone(phone)
        return phone, None if owner is None else str(owner["id"])
    if client is None:
        return None, None
    if not client["phone"]:
        recipient.fault("client_id", "This client has no telephone number")
    return client["phone"], str(client["id"])


def _check_time(body: Body, now: datetime, practice: Practice) -> None:
    if now.astimezone(practice.zone).hour not in SENDING_HOURS:
        body.fault_anywhere(None, "Outside the practice's sending hours, 8am to 9pm local time")


def _answer(platform: Platform, message: Message, status: int) -> Response:
    zone = platform.world.practices[message.practice_id].zone
    return success(stamped(message.record, platform.switches, zone), status=status)
