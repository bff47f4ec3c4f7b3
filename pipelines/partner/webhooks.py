"""Webhooks as the contract has them: who signed, which practice, what makes two deliveries one. No I/O.

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

from pipelines.core.pages import Row
from pipelines.core.practice import problem_of_id

SIGNATURE_HEADER = "X-Webhook-Signature"


class Channel(StrEnum):
    """What a delivery is about; each has an address of its own at the receiver."""

    MESSAGES = "messages"
    AI_OUTBOUND = "ai_outbound"
    SERVICE_REMINDERS = "service_reminders"


@dataclass(frozen=True, slots=True)
class Secret:
    """A signing secret; `practice_id` is the one practice it may speak for, `None` for any."""

    text: str = field(repr=False)
    practice_id: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a body says of itself. `practice_id` is `None` where it names none.

    `problem` says why the body cannot become a row.
    """

    channel: Channel
    practice_id: str | None
    payload: Mapping[str, Any]
    problem: str | None = None


def secrets_from(text: str) -> tuple[Secret, ...]:
    """Secrets as settings have them: `secret` or `practice_id=secret`, comma-separated, all active.

    A secret may end in `=` (Base64): where nothing else follows the sign, it belongs to the secret.
    """
    return tuple(_secret(part.strip()) for part in text.split(",") if part.strip())


def _secret(text: str) -> Secret:
    practice_id, _, rest = text.partition("=")
    bound = practice_id.strip() and rest.strip("= ")
    return Secret(rest.strip(), practice_id.strip()) if bound else Secret(text)


def signature(secret: str, body: bytes) -> str:
    """The signature of a body: lowercase hex HMAC-SHA256 of its raw bytes."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class Signing:
    """The signatures of a body that arrives in parts, by each of the secrets."""

    def __init__(self, secrets: tuple[Secret, ...]) -> None:
        self._codes = [(item, hmac.new(item.text.encode(), digestmod=hashlib.sha256)) for item in secrets]

    def update(self, part: bytes) -> None:
        """The next part."""
        for _, code in self._codes:
            code.update(part)

    def signers(self, given: str) -> tuple[Secret, ...]:
        """The secrets that a signature was made with. Each is compared, in constant time, whatever others say."""
        sent = given.strip().encode()
        return tuple([item for item, code in self._codes if hmac.compare_digest(code.hexdigest().encode(), sent)])


def may_speak_for(signed_by: tuple[Secret, ...], practice_id: str | None) -> bool:
    """Whether one of the signers may speak for the practice that the body names."""
    return any(item.practice_id is None or practice_id in (None, item.practice_id) for item in signed_by)


def practice_of(signed_by: tuple[Secret, ...], delivery: Delivery) -> str | None:
    """The practice that the body names; where it names none, the only one that its secret is bound to."""
    bound = {item.practice_id for item in signed_by}
    return delivery.practice_id or (bound.pop() if len(bound) == 1 else None)


def read(channel: Channel, body: bytes) -> Delivery:
    """A body as a delivery; one that cannot be understood, or names an impossible practice, has a `problem`."""
    try:
        payload = json.loads(body, parse_constant=_refuse)
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
    """The row of a raw table that a delivery becomes: its fields, its body, and when it came."""
    payload = delivery.payload
    own = {name: value for name, value in payload.items() if name not in ("clinic_id", "practice_id")}
    kept = {"body": dict(payload), "received_at": received_at.isoformat()}
    match delivery.channel:
        case Channel.MESSAGES:
            own.pop("id", None)
            return {**own, "message_id": _message_id(payload), "status": status_of(payload), **kept}
        case Channel.AI_OUTBOUND:
            detail = payload.get("outcome_detail")
            booked = detail.get("appointment_id") if isinstance(detail, dict) else None
            return {**own, "status": status_of(payload), "appointment_id": booked, **kept}
        case Channel.SERVICE_REMINDERS:
            return {**own, "content_hash": content_hash(payload), **kept}


def message(delivery: Delivery) -> Row:
    """The message as a status webhook shows it: its own fields, those of the delivery left out."""
    of_delivery = ("clinic_id", "practice_id", "event", "event_id", "occurred_at", "timestamp", "message_id")
    own = {name: value for name, value in delivery.payload.items() if name not in of_delivery}
    return {**own, "id": _message_id(delivery.payload), "status": status_of(delivery.payload)}


def status_of(payload: Mapping[str, Any]) -> str | None:
    """The status, or the one that `event` ends with: the contract lets a receiver branch on either."""
    return _text(payload.get("status")) or (_text(payload.get("event")) or "").partition(".")[2] or None


MESSAGE_ORDER = ("sent", "suppressed", "failed", "delivered", "read")
"""Message statuses as they move forward. A message may report a failure for its RCS attempt and still end
`delivered` by SMS, so delivery comes after failure."""

FINAL_MESSAGE_STATUSES = ("suppressed", "read")
"""Nothing follows these; `delivered` by SMS is final too, by RCS it may still be read."""

ENDED_OUTREACH_STATUSES = ("completed", "suppressed", "failed")


def rank(status: str | None) -> int:
    """How far a message has come. A status that the contract does not know is past `sent` and not final."""
    return 2 * MESSAGE_ORDER.index(status) if status in MESSAGE_ORDER else 1


def content_hash(payload: Mapping[str, Any]) -> str:
    """What tells two reminders of one group apart: the fields of the contract.

    Others are left out, or a send time among them would make every repeated attempt a new reminder.
    """
    fields = {name: payload.get(name) for name in _REMINDER_FIELDS}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


_REMINDER_FIELDS = (
    *("practice_id", "practice_name", "id", "client_id", "remote_client_id", "patient_id", "remote_patient_id"),
    *("notification_rule_name", "due_at", "reminders", "group_status", "custom_fields"),
)


def _key(channel: Channel, payload: Mapping[str, Any]) -> tuple[str, tuple[str | None, ...]]:
    """The name of the id, and the parts of what makes two deliveries one, as the keys of the raw tables do.

    Not `event_id`: it is unique per delivery, and a repeated attempt may be a delivery of its own.
    """
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
    """An id or label as text; `None` where it is empty, no scalar, or cannot be written as UTF-8."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        return None
    text = str(value)
    return None if any("\ud800" <= character <= "\udfff" for character in text) else text


def _refuse(constant: str) -> None:
    raise ValueError(constant)
