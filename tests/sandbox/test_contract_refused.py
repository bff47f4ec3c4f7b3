"""Contract: Errors, Validation error: what cannot be created, and every field that the error names."""

from collections.abc import Callable
from typing import Any

import httpx
from support.booking import booking
from support.contract_breaks import accepts, enveloped
from support.message_requests import CARD, PHONE, REPLY, URL, card, carousel, chips, send, to
from support.outreach_requests import reach_out
from support.partner_side import ROOT, SIGN_IN, Partner, Row, at_fault
from support.rules import Check, Section, broken_by, rule

Create = Callable[..., httpx.Response]


Refused = tuple[str, Row, list[str | None]]
"""The name of a rule, the body of a request against it, and the fields at fault."""


def refused(section: Section, create: Create, *rows: Refused) -> Callable[[Check], Check]:
    """Make a check the test of some refused requests."""

    def decorate(check: Check) -> Check:
        for says, body, fields in reversed(rows):
            check = rule(section, says, create=create, body=body, fields=fields)(check)
        return check

    return decorate


def message(partner: Partner, **body: Any) -> httpx.Response:
    return send(partner, **body)


def content(partner: Partner, **body: Any) -> httpx.Response:
    return send(partner, content=body)


def request(partner: Partner, **body: Any) -> httpx.Response:
    return reach_out(partner, **body)


def appointment(partner: Partner, **body: Any) -> httpx.Response:
    return partner.post("appointments", booking(partner, **body))


def task(partner: Partner, **body: Any) -> httpx.Response:
    return partner.post("staff_tasks", {"title": "t", "description": "d", **body})


def sign_in(partner: Partner, **body: Any) -> httpx.Response:
    return partner.http.post(SIGN_IN, json=body)


DIALS = {"type": "dial", "text": "Call"}
OPENS = {"type": "open_url", "text": "Open"}
FIRST_CHIP = "content.suggestions.0"


@refused(
    "Errors",
    message,
    ("recipient is required", {"recipient": None, "channel": "fax"}, ["recipient", "channel"]),
    ("recipient names somebody", {"recipient": {}, "channel": "fax"}, ["recipient", "channel"]),
    ("recipient is an object", {"recipient": "Ann", "channel": "fax"}, ["recipient", "channel"]),
    ("E.164", {"recipient": {"phone_number": "2125550139"}}, ["recipient.phone_number"]),
    ("an empty number", {"recipient": {"phone_number": ""}}, ["recipient.phone_number"]),
    ("recipient.client_id", {"recipient": {"client_id": "none"}}, ["recipient.client_id"]),
    ("fallback_text is required", {"fallback_text": None}, ["fallback_text"]),
    ("fallback_text is no empty one", {"fallback_text": ""}, ["fallback_text"]),
    ("channel", {"channel": "fax"}, ["channel"]),
    ("callback_url is a URI", {"callback_url": "https://"}, ["callback_url"]),
    ("content is an object", {"content": "Hi"}, ["content"]),
    (
        "every field: message",
        {
            "recipient": None,
            "fallback_text": None,
            "channel": "fax",
            "callback_url": "?",
            "content": {"type": "carousel", "cards": [CARD, {"buttons": [{"type": "wave"}]}]},
        },
        [
            "recipient",
            "fallback_text",
            "channel",
            "callback_url",
            "content.cards.1",
            "content.cards.1.buttons.0.type",
            "content.cards.1.buttons.0.text",
        ],
    ),
)
@refused("Events", message, ("messages", {"callback_url": "http://a.example/"}, ["callback_url"]))
@refused("Events", request, ("outreach", {"callback_url": "http://a.example/"}, ["callback_url"]))
@refused(
    "Errors",
    content,
    ("400, field content: calendar", chips({"type": "create_calendar_event", "text": "Save"}), ["content"]),
    ("400, field content: location", chips({"type": "share_location", "text": "Here"}), ["content"]),
    ("400, field content: image", {"type": "media", "media_url": "https://gone.invalid/a.png"}, ["content"]),
    (
        "paths are dotted",
        {"type": "carousel", "cards": [CARD, card(buttons=[{"type": "reply"}])["card"]]},
        ["content.cards.1.buttons.0.text"],
    ),
)
@refused(
    "Resources / Message content",
    content,
    ("type is required", {"suggestions": []}, ["content.type"]),
    ("no other type", {"type": "poem"}, ["content.type"]),
    ("media_url: media only", {"type": "text", "media_url": URL}, ["content.media_url"]),
    ("a text bubble or a card, never both", {"type": "text", "card": CARD}, ["content.card"]),
    ("cards: carousel only", {**card(), "cards": [CARD] * 2}, ["content.cards"]),
    ("a carousel takes no suggestions", {**carousel(2), "suggestions": [REPLY]}, ["content.suggestions"]),
    ("media wants media_url", {"type": "media"}, ["content.media_url"]),
    ("card wants card", {"type": "card"}, ["content.card"]),
    ("carousel wants cards", {"type": "carousel"}, ["content.cards"]),
)
@refused(
    "Resources / Card",
    content,
    ("title or description", {"type": "card", "card": {"media_url": URL}}, ["content.card"]),
    ("media by https", card(media_url="http://example.com/a.png"), ["content.card.media_url"]),
    ("in a carousel", {"type": "carousel", "cards": [CARD, {"title": "t" * 201}]}, ["content.cards.1.title"]),
)
@refused(
    "Resources / Button",
    content,
    ("type is required", chips({"text": "Label"}), [f"{FIRST_CHIP}.type"]),
    ("no other type", chips({"type": "wave", "text": "Hi"}), [f"{FIRST_CHIP}.type"]),
    ("text is required", chips({"type": "reply"}), [f"{FIRST_CHIP}.text"]),
    ("open_url wants a url", chips(OPENS), [f"{FIRST_CHIP}.url"]),
    ("url by https", chips({**OPENS, "url": "http://example.com"}), [f"{FIRST_CHIP}.url"]),
    ("dial wants a number", chips(DIALS), [f"{FIRST_CHIP}.phone_number"]),
    ("E.164", chips({**DIALS, "phone_number": "(212) 555-0139"}), [f"{FIRST_CHIP}.phone_number"]),
    ("url: open_url only", chips({**REPLY, "url": URL}), [f"{FIRST_CHIP}.url"]),
    ("phone_number: dial only", chips({**REPLY, "phone_number": PHONE}), [f"{FIRST_CHIP}.phone_number"]),
    ("id: reply only", chips({**DIALS, "phone_number": PHONE, "id": "yes"}), [f"{FIRST_CHIP}.id"]),
    ("on a card", card(buttons=[REPLY, {"type": "reply"}]), ["content.card.buttons.1.text"]),
)
@refused(
    "Endpoints / AI outbound requests",
    request,
    ("no other channel", {"channel": "fax"}, ["channel"]),
    ("no other purpose", {"purpose": "fun"}, ["purpose"]),
    ("a number", {"contact_number": "555"}, ["contact_number"]),
    ("an empty number", {"contact_number": ""}, ["contact_number"]),
    ("a contact", {"contact_number": None}, [None]),
    (
        "every field",
        {"client_id": "none", "channel": "fax", "purpose": "fun", "callback_url": "?"},
        ["client_id", "channel", "purpose", "callback_url"],
    ),
)
@refused(
    "Endpoints / Create an appointment",
    appointment,
    ("slot_id is required", {"slot_id": None, "status": "x"}, ["slot_id", "status"]),
    ("slot_id is a slot's uuid", {"slot_id": "slot_0000000000000000", "status": "x"}, ["slot_id", "status"]),
    ("client_id is an integer", {"client_id": "10000001"}, ["client_id"]),
    ("patient_id is an integer", {"patient_id": "10000001"}, ["patient_id"]),
    ("one of the client's", {"client_id": None}, [None]),
    ("one of the patient's", {"patient_id": None}, [None]),
    ("status", {"status": "COMPLETED"}, ["status"]),
    (
        "every field",
        {"slot_id": None, "client_id": None, "patient_id": None, "status": "x"},
        ["slot_id", None, None, "status"],
    ),
    ("no such client", {"client_id": 17}, ["client_id"]),
    ("no such remote client", {"client_id": None, "client_remote_id": "none"}, ["client_remote_id"]),
    (
        "no such name",
        {"client_id": None, "first_name": "A", "last_name": "B", "phone": "+12125550139"},
        ["first_name"],
    ),
    ("no such patient", {"patient_id": 17}, ["patient_id"]),
    ("no such remote patient", {"patient_id": None, "patient_remote_id": "none"}, ["patient_remote_id"]),
)
@refused(
    "Endpoints / Staff tasks",
    task,
    ("task_type is one of two", {"task_type": "chore"}, ["task_type"]),
    ("reference_time_at is a time", {"reference_time_at": "soon"}, ["reference_time_at"]),
    ("title is a string", {"title": [7]}, ["title"]),
    (
        "every field",
        {"title": [1], "task_type": "chore", "client_id": "x", "patient_id": "x", "reference_time_at": "soon"},
        ["title", "task_type", "client_id", "patient_id", "reference_time_at"],
    ),
)
@refused("Errors", sign_in, ("every field: sign-in", {"username": 7}, ["username", "password", "role"]))
@broken_by(accepts())
def test_a_request_that_cannot_be_is_refused(
    partner: Partner, create: Create, body: Row, fields: list[str | None]
) -> None:
    assert sorted(at_fault(create(partner, **body)), key=str) == sorted(fields, key=str)


@rule("Errors", says="validation envelope; the first error")
@broken_by(
    enveloped("messages", lambda body: {**body, "message": "no"}),
    enveloped("messages", lambda body: {**body, "data": {"errors": body["data"]["errors"]}}),
)
def test_a_validation_error_has_its_envelope(partner: Partner) -> None:
    assert at_fault(send(partner, fallback_text=None, channel="fax")) == ["fallback_text", "channel"]


@rule("Errors", says="400, field null")
@broken_by(accepts())
def test_a_body_that_is_no_object_is_a_request_level_error(partner: Partner) -> None:
    for body in (b"", b"[]", b"{", b'"text"'):
        assert at_fault(partner.http.post(f"{ROOT}/messages", content=body)) == [None]


@rule("Errors", says="400, field recipient")
@broken_by(accepts())
def test_a_number_that_cannot_receive_texts_may_be_refused(partner: Partner) -> None:
    """The contract allows two answers; a switch chooses this one."""
    partner.platform.set(blocked_number="refused")
    assert at_fault(send(partner, recipient=to("01"))) == ["recipient"]


def unauthorized(partner: Partner) -> httpx.Response:
    partner.http.headers["Authorization"] = "Bearer made-up"
    return send(partner)


def unknown(partner: Partner) -> httpx.Response:
    return partner.get("messages/none")


def too_many(partner: Partner) -> httpx.Response:
    return next(answer for answer in (send(partner) for _ in range(125)) if answer.status_code != 201)


def unavailable(partner: Partner) -> httpx.Response:
    return send(partner, recipient=to("10"))


@rule("Errors", says="401", ask=unauthorized, status=401)
@rule("Errors", says="message not found", ask=unknown, status=404)
@rule("Errors", says="429", ask=too_many, status=429)
@rule("Errors", says="502", ask=unavailable, status=502)
@broken_by(enveloped("*", lambda body: {**body, "success": True}))
def test_an_error_comes_in_the_general_envelope(partner: Partner, ask: Create, status: int) -> None:
    answer = ask(partner)
    assert answer.status_code == status
    body = answer.json()
    assert set(body) <= {"success", "message", "data"}
    assert body["success"] is False
    assert isinstance(body.get("message"), str)
