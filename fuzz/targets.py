"""The fuzzed functions: they take bytes and raise nothing but `VetlError`; each has bytes to begin with."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from vetl.core.errors import VetlError
from vetl.core.pages import CallsPage, instant, key_of
from vetl.partner import protocol, webhooks
from vetl.partner.calls_csv import COLUMNS, render
from vetl.partner.models import Appointment, BookingSession, Client, OutboundRequest, PhoneCall, StaffTask
from vetl.partner.practice import typed
from vetl.partner.protocol import Answer
from vetl.partner.webhooks import Channel, Secret
from vetl.store.phone_calls.csv_frames import parse_calls

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
NEW_YORK = ZoneInfo("America/New_York")
RECORDS = (PhoneCall, BookingSession, Appointment, OutboundRequest, StaffTask, Client)
LONGEST_ERROR = 3_000
HEADERS = ("content-type", "retry-after", "x-total-count", "x-page", "x-per-page", "date")


@dataclass(frozen=True, slots=True)
class Target:
    """A fuzzed function `one`; `seeds` are usual inputs, `words` are worth inserting anywhere."""

    one: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    words: tuple[str, ...]


def tried(*calls: Callable[[], object]) -> None:
    """Make each call; one of vetl's own errors is as good as an answer if it is one line."""
    for call in calls:
        try:
            call()
        except VetlError as error:
            message = str(error)
            assert "\n" not in message, "an error of several lines"
            assert len(message) < LONGEST_ERROR, "an error of many words"


def protocol_target(data: bytes) -> None:
    """Parse an answer: its status and headers on lines of their own, then its body; also as a single field."""
    answer = _answer(data)
    _rows([dict.fromkeys(("id", "updated_at", "created_at", "booked"), answer.body.decode("utf-8", "replace"))])
    tried(
        lambda: _rows(protocol.page(answer, answer.json()).rows),
        lambda: protocol.page(answer, answer.json(), plain=True),
        lambda: _rows([protocol.record(answer, answer.json())]),
        lambda: protocol.done(answer),
        lambda: protocol.token_of(answer),
        lambda: str(protocol.refusal(answer)),
    )


def calls_csv_target(data: bytes) -> None:
    """Parse an answer whose body is a page of the phone-call CSV; and each line as a JSON record of a call."""
    answer = _answer(data)

    def page() -> CallsPage:
        csv = protocol.csv_page(answer)
        tried(lambda: parse_calls(csv), lambda: protocol.whole(csv))
        return parse_calls(csv, lenient=True)

    tried(page)
    for line in answer.body.splitlines()[:4]:
        with suppress(ValueError, RecursionError):
            tried(partial(_rendered, json.loads(line)))


def _rendered(record: Any) -> None:  # noqa: ANN401 - any JSON value
    if isinstance(record, dict):
        render(record, NEW_YORK)


def webhooks_target(data: bytes) -> None:
    """Check a webhook: secrets and a signature on lines of their own, then a body, for each address."""
    secrets, signature, body = (*data.split(b"\n", 2), b"", b"")[:3]
    active = webhooks.secrets_from(secrets.decode("utf-8", "replace"))
    signing = webhooks.Signing(active)
    signing.update(body)
    signed_by = signing.signers(signature.decode("latin-1"))
    for channel in Channel:
        delivery = webhooks.parse_delivery(channel, body)
        webhooks.may_speak_for(signed_by, delivery.practice_id)
        webhooks.practice_of(signed_by or (Secret("s", "loc-001"),), delivery)
        assert webhooks.parse_delivery(channel, body) == delivery, "read twice, it is not the same"
        if delivery.problem is None:
            json.dumps(webhooks.row(delivery, NOW), allow_nan=False).encode()
            webhooks.rank(webhooks.status_of(delivery.payload))
        if channel is Channel.MESSAGES:
            webhooks.message(delivery)


def _answer(data: bytes) -> Answer:
    status, *lines = data.split(b"\n", len(HEADERS) + 1)
    texts = [line.decode("latin-1") for line in lines[: len(HEADERS)]]
    headers = {name: text for name, text in zip(HEADERS, texts, strict=False) if text}
    number = int(status) if status.isdigit() and len(status) == 3 else 200  # noqa: PLR2004 - as HTTP has them
    return Answer("GET x for practice p", number, headers, (*lines[len(HEADERS) :], b"")[0], NOW, ("secret",))


def _rows(rows: Any) -> None:  # noqa: ANN401 - rows as they came
    """Prepare rows as before storing."""
    for row in rows:
        key_of(row)
        for value in row.values():
            instant(value)
        tried(*(partial(typed, model, "x", row) for model in RECORDS))


def _seed(body: str | bytes, status: int = 200, **headers: str) -> bytes:
    lines = [str(status), *(headers.get(name.replace("-", "_"), "") for name in HEADERS)]
    text = body.encode() if isinstance(body, str) else body
    return "\n".join(lines).encode("latin-1") + b"\n" + text


def _envelope(data: object) -> str:
    return json.dumps({"success": True, "data": data, "message": None})


_TASK = {"id": 7, "status": "pending", "created_at": "2026-11-21T09:00:00.123+01:00", "updated_at": "20261121T09Z"}
_CALL = {"id": "c", "created_at": "2026-03-08T07:30:59Z", "direction": "inbound", "duration_seconds": 61}
_NAMES = ",".join(column.header for column in COLUMNS)
_LINE = '2026-11-20 09:00,Harbor,inbound,completed,new,Ann,Rex,+15550100,Scheduling,Yes,"a, ""b""\nc",,,No,1:01'
_ERRORS = {"message": "m", "errors": [{"field": "start_date", "message": "must be"}, {"field": None}]}


def _protocol_seeds() -> Iterator[bytes]:
    yield _seed(_envelope({"page": 0, "per_page": "100", "total_count": "1", "content": [_TASK, None]}))
    yield _seed(_envelope([{"id": "1", "patients": []}]), content_type="application/json; charset=latin-1")
    yield _seed(_envelope({"token": "t0ken"}), 201)
    yield from (
        _seed(text) for text in ("2026-11-21T09:00:00.123456789+01:00", "20261121T09Z", "2026-W47-6", "1e9")
    )
    yield _seed(json.dumps({"success": False, "message": "no", "data": _ERRORS}), 400)
    yield _seed('{"success": false, "message": "Bearer secret +1 555 0100 a@b.c"}', 429, retry_after="1.5")
    yield _seed("<html>busy</html>", 503, retry_after="Sat, 21 Nov 2026 10:01:00 GMT")
    yield _seed(
        b'\xef\xbb\xbf{"success":true,"data":{"id":"\\ud83d","n":1e400}}', content_type="text/x;charset=utf-16"
    )


def _webhook_seeds() -> Iterator[bytes]:
    bodies = (
        {"event": "message.sent", "id": "m", "clinic_id": "loc-001", "status": "sent", "event_id": "e"},
        {"event": "ai_outbound.completed", "request_id": "r", "clinic_id": "x", "outcome_detail": {"a": 1}},
        {"id": "g", "practice_id": "loc-001", "reminders": [{"id": "1"}], "group_status": "deleted"},
    )
    for body in bodies:
        text = json.dumps(body).encode()
        yield b"secret, loc-001=other=\n" + webhooks.signature("secret", text).encode() + b"\n" + text


TARGETS: Mapping[str, Target] = {
    "protocol": Target(
        protocol_target,
        tuple(_protocol_seeds()),
        ("success", "data", "content", "total_count", "errors", "charset=", "0001-01-01T00:00:00+23:59", "1e999"),
    ),
    "calls_csv": Target(
        calls_csv_target,
        (
            _seed(f"{_NAMES}\n{_LINE}\n", x_total_count="1", x_page="0", x_per_page="5000"),
            _seed(f"\ufeffOther,{_NAMES}\r\n1,{_LINE}\r\n", x_total_count="1", content_type="text/csv"),
            _seed("", x_total_count="0"),
            _seed(json.dumps(_CALL), x_total_count="1"),
        ),
        ('""', ",,", "\r\n", "Date,", "created_at", "0001-01-01T00:00:00+14:00", "\\ud800"),
    ),
    "webhooks": Target(
        webhooks_target,
        tuple(_webhook_seeds()),
        ("clinic_id", "practice_id", "request_id", "message_id", "status", "\\ud800", "NaN", "outcome_detail"),
    ),
}
"""The targets, by the name of the module of `vetl.partner` that each tests."""
