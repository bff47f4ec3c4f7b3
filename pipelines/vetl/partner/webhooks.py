"""Webhooks of the contract without I/O: their signatures, practices, rows and keys.

Contract: Authentication 7 (signature), Events (payloads, de-duplication), States and transitions (order).
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from vetl.core.endpoint import is_exact
from vetl.core.list_read import problem_of_id
from vetl.core.pages import Row
from vetl.partner.models import ServiceReminderEvent

SIGNATURE_HEADER = "X-Webhook-Signature"


class Channel(StrEnum):
    """A kind of webhooks; each kind has an address of its own at the receiver."""

    MESSAGES = "messages"
    AI_OUTBOUND = "ai_outbound"
    SERVICE_REMINDERS = "service_reminders"


@dataclass(frozen=True, slots=True)
class Secret:
    """A signing secret for the practice `practice_id`, or for every practice if that is `None`."""

    text: str = field(repr=False)
    practice_id: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A parsed body; `practice_id` is `None` if the body names no practice.

    `problem` is the reason if the body cannot become a row.
    """

    channel: Channel
    practice_id: str | None
    payload: Mapping[str, Any]
    problem: str | None = None


def secrets_from(text: str) -> tuple[Secret, ...]:
    """Return the active secrets of a setting: `secret` or `practice_id=secret`, separated by commas."""
    # A secret may end in `=` (Base64): if nothing follows the sign, it is a part of the secret.
    return tuple(_secret(part.strip()) for part in text.split(",") if part.strip())


def _secret(text: str) -> Secret:
    practice_id, _, rest = text.partition("=")
    bound = practice_id.strip() and rest.strip("= ")
    return Secret(rest.strip(), practice_id.strip()) if bound else Secret(text)


def signature(secret: str, body: bytes) -> str:
    """Return the signature of a body: the HMAC-SHA256 of its raw bytes in lowercase hex."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class Signing:
    """The signatures of a body that arrives in parts, one for each secret."""

    def __init__(self, secrets: tuple[Secret, ...]) -> None:
        self._codes = [(item, hmac.new(item.text.encode(), digestmod=hashlib.sha256)) for item in secrets]

    def update(self, part: bytes) -> None:
        """Add the next part of the body."""
        for _, code in self._codes:
            code.update(part)

    def signers(self, signature: str) -> tuple[Secret, ...]:
        """Return the secrets whose signature is equal, by a comparison of all secrets in constant time."""
        sent = signature.strip().encode()
        return tuple([item for item, code in self._codes if hmac.compare_digest(code.hexdigest().encode(), sent)])


def may_speak_for(signed_by: tuple[Secret, ...], practice_id: str | None) -> bool:
    """Return whether one of the secrets is valid for the practice in the body."""
    return any(item.practice_id is None or practice_id in (None, item.practice_id) for item in signed_by)


def practice_of(signed_by: tuple[Secret, ...], delivery: Delivery) -> str | None:
    """Return the practice in the body, or else the only practice of the secrets."""
    bound = {item.practice_id for item in signed_by}
    return delivery.practice_id or (bound.pop() if len(bound) == 1 else None)


def parse_delivery(channel: Channel, body: bytes) -> Delivery:
    """Parse a body; a delivery that cannot be parsed or names an impossible practice has a `problem`."""
    try:
        # As in an answer, a cut emoji or a raw tab costs no delivery.
        text = body.decode(json.detect_encoding(body), "replace")
        payload = json.loads(text, strict=False, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return Delivery(channel, None, {}, "not JSON")
    if not isinstance(payload, dict):
        return Delivery(channel, None, {}, "not an object")
    practice_id = _text(payload.get("clinic_id")) or _text(payload.get("practice_id"))
    if practice_id and (problem := problem_of_id(practice_id)):
        return Delivery(channel, None, payload, f"clinic_id: {problem}")
    name, parts = _key(channel, payload)
    missing = name if parts[0] is None else "status" if None in parts else None
    return Delivery(channel, practice_id, payload, f"{missing}: missing" if missing else None)


def row(delivery: Delivery, received_at: datetime) -> Row:
    """Return the row of a delivery: its fields, its body, and its arrival."""
    payload = delivery.payload
    own = {name: value for name, value in payload.items() if name not in ("clinic_id", "practice_id")}
    whole = {"body": dict(payload), "received_at": received_at.isoformat()}
    match delivery.channel:
        case Channel.MESSAGES:
            own.pop("id", None)
            return {**own, "message_id": _message_id(payload), "status": status_of(payload), **whole}
        case Channel.AI_OUTBOUND:
            detail = own.get("outcome_detail")
            booked = detail.get("appointment_id") if isinstance(detail, dict) else None
            if detail == []:  # an empty object, as PHP writes it
                own["outcome_detail"] = None
            return {**own, "status": status_of(payload), "appointment_id": booked, **whole}
        case Channel.SERVICE_REMINDERS:
            return {**own, "content_hash": content_hash(payload), **whole}


def message(delivery: Delivery) -> Row:
    """Return the message in a status webhook, without the fields of the delivery."""
    of_delivery = ("clinic_id", "practice_id", "event", "event_id", "occurred_at", "timestamp", "message_id")
    own = {name: value for name, value in delivery.payload.items() if name not in of_delivery}
    return {**own, "id": _message_id(delivery.payload), "status": status_of(delivery.payload)}


def status_of(payload: Mapping[str, Any]) -> str | None:
    """Return the status, or else the end of `event`, as the contract allows both."""
    return _text(payload.get("status")) or (_text(payload.get("event")) or "").partition(".")[2] or None


MESSAGE_ORDER = ("sent", "suppressed", "failed", "delivered", "read")
"""Message statuses in their order. The RCS attempt of a message may fail before its SMS is `delivered`, so
delivery comes after failure."""

FINAL_MESSAGE_STATUSES = ("suppressed", "read")
"""Final statuses; `delivered` is final for an SMS, but an RCS message may still be read."""

ENDED_OUTREACH_STATUSES = ("completed", "suppressed", "failed")


def rank(status: str | None) -> int:
    """Return the rank of a status; an unknown status comes after `sent` and is not final."""
    return 2 * MESSAGE_ORDER.index(status) if status in MESSAGE_ORDER else 1


def content_hash(payload: Mapping[str, Any]) -> str:
    """Return the hash of a reminder's fields, which distinguishes reminders of one group."""
    # Only fields of the contract count: with a send time every repeated attempt would be a new reminder.
    fields = {name: payload.get(name) for name in _REMINDER_FIELDS}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


_REMINDER_FIELDS = {"practice_id", *ServiceReminderEvent.model_fields} - {
    "content_hash",
    "timestamp",
    "body",
    "received_at",
}


def _key(channel: Channel, payload: Mapping[str, Any]) -> tuple[str, tuple[str | None, ...]]:
    """Return the name of the id and the values of the key in the raw table."""
    # `event_id` is no part of the key: it is unique per delivery, and a repeated attempt may be a new delivery.
    match channel:
        case Channel.MESSAGES:
            return "id", (_message_id(payload), status_of(payload))
        case Channel.AI_OUTBOUND:
            return "request_id", (_text(payload.get("request_id")),)
        case Channel.SERVICE_REMINDERS:
            return "id", (_text(payload.get("id")), content_hash(payload))


def _message_id(payload: Mapping[str, Any]) -> str | None:
    return _text(payload.get("id")) or _text(payload.get("message_id"))


def _text(value: object) -> str | None:
    """Return an id or label as text, or `None` if it is empty, no scalar, or no valid UTF-8."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "" or not is_exact(value):
        return None
    text = str(value)
    return None if any("\ud800" <= character <= "\udfff" for character in text) else text


def _refuse(constant: str) -> None:
    raise ValueError(constant)
