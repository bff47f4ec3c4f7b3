"""Contract: Errors; Message content; Card; Button; their Limits: what is refused, and which fields are named."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from support.partner_requests import CARD, REPLY, URL, booking, card, carousel, chips, reach_out, send, to
from support.partner_side import ROOT, SIGN_IN, Partner, Row, at_fault

Ask = Callable[..., httpx.Response]
OPEN_URL = {"type": "open_url", "text": "Open", "url": URL}
DIAL = {"type": "dial", "text": "Call", "phone_number": "+12125550139"}
CHIP = "content.suggestions.0"


def labelled(button: Row, length: int) -> Row:
    return chips({**button, "text": "t" * length})


@pytest.mark.parametrize(
    ("most", "more", "field"),
    [
        (card(title="t" * 200), card(title="t" * 201), "content.card.title"),
        (card(description="d" * 1600), card(description="d" * 1601), "content.card.description"),
        (card(buttons=[REPLY] * 4), card(buttons=[REPLY] * 5), "content.card.buttons"),
        (chips(*[REPLY] * 11), chips(*[REPLY] * 12), "content.suggestions"),
        (carousel(10), carousel(11), "content.cards"),
        (carousel(2), carousel(1), "content.cards"),
        (labelled(OPEN_URL, 25), labelled(OPEN_URL, 26), f"{CHIP}.text"),
        (labelled(DIAL, 25), labelled(DIAL, 26), f"{CHIP}.text"),
        (labelled(REPLY, 20), labelled(REPLY, 21), f"{CHIP}.text"),
    ],
)
def test_content_at_a_limit_is_sent_and_content_beyond_it_refused(
    partner: Partner, most: Row, more: Row, field: str
) -> None:
    assert send(partner, content=most).status_code == 201
    assert at_fault(send(partner, content=more)) == [field]


def test_the_fallback_text_has_at_most_1600_characters(partner: Partner) -> None:
    assert send(partner, fallback_text="t" * 1600).status_code == 201
    assert at_fault(send(partner, fallback_text="t" * 1601)) == ["fallback_text"]


@pytest.mark.parametrize(
    "content",
    [
        {"type": "text"},
        {"type": "media", "media_url": URL, "suggestions": [REPLY]},
        {**card(media_url=URL), "suggestions": [REPLY]},
        {"type": "card", "card": {"description": "Alone"}},
        chips({**REPLY, "id": "yes"}),
    ],
)
def test_content_that_the_contract_shows_is_sent(partner: Partner, content: Row) -> None:
    assert send(partner, content=content).status_code == 201


def content(partner: Partner, **body: Any) -> httpx.Response:
    return send(partner, content=body)


def appointment(partner: Partner, **body: Any) -> httpx.Response:
    return partner.post("appointments", booking(partner, **body))


def task(partner: Partner, **body: Any) -> httpx.Response:
    return partner.post("staff_tasks", {"title": "t", "description": "d", **body})


def sign_in(partner: Partner, **body: Any) -> httpx.Response:
    return partner.http.post(SIGN_IN, json=body)


@pytest.mark.parametrize(
    ("ask", "body", "fields"),
    [
        (
            send,
            {
                "recipient": None,
                "fallback_text": None,
                "channel": "fax",
                "callback_url": "http://a.example/",
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
        (send, {"recipient": {}}, ["recipient"]),
        (send, {"recipient": {"phone_number": "2125550139"}}, ["recipient.phone_number"]),
        (send, {"recipient": {"client_id": "none"}}, ["recipient.client_id"]),
        (content, chips({"type": "create_calendar_event", "text": "Save"}), ["content"]),
        (content, {"type": "media", "media_url": "https://gone.invalid/a.png"}, ["content"]),
        (content, {"type": "poem"}, ["content.type"]),
        (content, {"type": "text", "media_url": URL}, ["content.media_url"]),
        (content, {"type": "text", "card": CARD}, ["content.card"]),
        (content, {**card(), "cards": [CARD] * 2}, ["content.cards"]),
        (content, {**carousel(2), "suggestions": [REPLY]}, ["content.suggestions"]),
        (content, {"type": "media"}, ["content.media_url"]),
        (content, {"type": "card"}, ["content.card"]),
        (content, chips({"text": "Label"}), [f"{CHIP}.type"]),
        (content, {"type": "card", "card": {"media_url": URL}}, ["content.card"]),
        (content, card(media_url="http://example.com/a.png"), ["content.card.media_url"]),
        (content, chips({"type": "open_url", "text": "Open"}), [f"{CHIP}.url"]),
        (content, chips({**DIAL, "phone_number": "(212) 555-0139"}), [f"{CHIP}.phone_number"]),
        (content, chips({**REPLY, "url": URL}), [f"{CHIP}.url"]),
        (
            reach_out,
            {"client_id": "none", "channel": "fax", "purpose": "fun", "callback_url": "?"},
            ["client_id", "channel", "purpose", "callback_url"],
        ),
        (reach_out, {"contact_number": "555"}, ["contact_number"]),
        (reach_out, {"contact_number": None}, [None]),
        (
            appointment,
            {"slot_id": None, "client_id": None, "patient_id": None, "status": "COMPLETED"},
            ["slot_id", None, None, "status"],
        ),
        (appointment, {"slot_id": "slot_0000000000000000"}, ["slot_id"]),
        (appointment, {"client_id": "10000001", "patient_id": "10000001"}, ["client_id", "patient_id"]),
        (appointment, {"client_id": 17}, ["client_id"]),
        (appointment, {"client_id": None, "client_remote_id": "none"}, ["client_remote_id"]),
        (appointment, {"patient_id": None, "patient_remote_id": "none"}, ["patient_remote_id"]),
        (
            task,
            {"title": [1], "task_type": "chore", "client_id": "x", "patient_id": "x", "reference_time_at": "soon"},
            ["title", "task_type", "client_id", "patient_id", "reference_time_at"],
        ),
        (sign_in, {"username": 7}, ["username", "password", "role"]),
    ],
)
def test_a_request_that_cannot_be_names_every_field(
    partner: Partner, ask: Ask, body: Row, fields: list[str | None]
) -> None:
    assert sorted(at_fault(ask(partner, **body)), key=str) == sorted(fields, key=str)


def test_a_body_that_is_no_object_is_a_request_level_error(partner: Partner) -> None:
    for body in (b"", b"[]", b"{", b'"text"'):
        assert at_fault(partner.http.post(f"{ROOT}/messages", content=body)) == [None]


def test_a_number_that_cannot_receive_texts_may_be_refused(partner: Partner) -> None:
    """The contract allows two answers; a switch chooses this one."""
    partner.platform.set(blocked_number="refused")
    assert at_fault(send(partner, recipient=to("01"))) == ["recipient"]


def test_other_errors_come_in_the_general_envelope(partner: Partner) -> None:
    answers = [partner.get("messages/none"), send(partner, recipient=to("10"))]
    answers.append(next(answer for answer in (send(partner) for _ in range(125)) if answer.status_code != 201))
    partner.http.headers["Authorization"] = "Bearer made-up"
    answers.append(send(partner))
    assert [answer.status_code for answer in answers] == [404, 502, 429, 401]
    for body in (answer.json() for answer in answers):
        assert set(body) <= {"success", "message", "data"}
        assert body["success"] is False
        assert isinstance(body["message"], str)
