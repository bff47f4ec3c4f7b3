"""Contract: Messages; Message content; States and transitions, Message; Limits."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from support.partner_side import ROOT, Partner

PHONE = "+12125550139"
RCS_PHONE = "+12125550138"


def create(partner: Partner, **fields: Any) -> httpx.Response:
    body = {"recipient": {"phone_number": PHONE}, "fallback_text": "Hello", **fields}
    return partner.http.post(f"{ROOT}/messages", json={key: value for key, value in body.items() if value != "-"})


def to(ending: str) -> dict[str, Any]:
    return {"phone_number": f"+121255501{ending}"}


def at_fault(answer: httpx.Response) -> list[str | None]:
    assert answer.status_code == 400, answer.text
    body = answer.json()
    assert body["message"] == body["data"]["message"] == body["data"]["errors"][0]["message"]
    return [error["field"] for error in body["data"]["errors"]]


def test_a_message_is_sent_at_once(partner: Partner) -> None:
    answer = create(partner)
    assert answer.status_code == 201
    message = answer.json()["data"]
    assert set(message) == {
        "id", "reference_id", "status", "status_reason", "channel_requested", "channel_used", "client_id",
        "error_code", "error_message", "sent_at", "delivered_at", "read_at", "failed_at", "created_at",
    }  # fmt: skip
    assert (message["status"], message["channel_requested"], message["channel_used"]) == ("sent", "auto", None)
    assert message["sent_at"] == message["created_at"]


def test_a_client_is_texted_by_id(partner: Partner) -> None:
    client = partner.truth("clients")[0]
    message = create(partner, recipient={"client_id": client["id"]}).json()["data"]
    assert message["client_id"] == client["id"]


def test_a_message_is_got_by_id_and_by_reference(partner: Partner) -> None:
    made = create(partner, reference_id="ref-1").json()["data"]
    assert partner.page(f"messages/{made['id']}") == partner.page("messages/ref-1") == made


def test_another_practice_does_not_see_it(partner: Partner) -> None:
    made = create(partner).json()["data"]
    assert partner.http.get(f"{ROOT}/messages/{made['id']}", headers={"X-Client-Id": "loc-002"}).status_code == 404


def test_a_resent_reference_returns_the_message_and_texts_nobody(partner: Partner) -> None:
    first = create(partner, reference_id="ref-1")
    again = create(partner, reference_id="ref-1")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json()["data"]["id"] == first.json()["data"]["id"]


def test_a_reference_may_be_used_again_after_a_400(partner: Partner) -> None:
    assert create(partner, reference_id="ref-1", fallback_text="-").status_code == 400
    assert create(partner, reference_id="ref-1").status_code == 201


@pytest.mark.parametrize(("ending", "then"), [("08", 200), ("10", 201)])
def test_a_reference_resent_after_a_502_is_texted_once(partner: Partner, ending: str, then: int) -> None:
    answers = [create(partner, recipient=to(ending), reference_id="ref-1").status_code for _ in range(3)]
    assert answers == [502, then, 200]


@pytest.mark.parametrize(("ending", "reason"), [("00", "opted_out"), ("01", "blocked_number")])
def test_who_cannot_be_texted_is_suppressed_with_200(partner: Partner, ending: str, reason: str) -> None:
    answer = create(partner, recipient=to(ending))
    assert answer.status_code == 200
    message = answer.json()["data"]
    assert (message["status"], message["status_reason"], message["sent_at"]) == ("suppressed", reason, None)


def test_a_blocked_number_can_be_refused(partner: Partner) -> None:
    partner.platform.set(blocked_number="refused")
    assert at_fault(create(partner, recipient=to("01"))) == ["recipient"]


def course(partner: Partner, phone: str, channel: str = "auto") -> list[tuple[str, str | None]]:
    message = create(partner, recipient={"phone_number": phone}, channel=channel).json()["data"]
    seen: list[tuple[str, str | None]] = []
    for _ in range(100):
        partner.platform.advance(timedelta(seconds=2))
        now = partner.page(f"messages/{message['id']}")
        if not seen or seen[-1] != (now["status"], now["channel_used"]):
            seen.append((now["status"], now["channel_used"]))
    return seen


def test_an_sms_is_delivered_and_never_read(partner: Partner) -> None:
    assert course(partner, RCS_PHONE, "sms") == [("sent", "sms"), ("delivered", "sms")]


def test_an_rcs_message_is_read(partner: Partner) -> None:
    assert course(partner, RCS_PHONE) == [("sent", None), ("delivered", "rcs"), ("read", "rcs")]


def test_auto_falls_back_to_sms_on_a_handset_without_rcs(partner: Partner) -> None:
    assert course(partner, PHONE) == [("sent", None), ("delivered", "sms")]


def test_rcs_alone_never_falls_back(partner: Partner) -> None:
    assert course(partner, PHONE, "rcs")[-1] == ("failed", "rcs")


def test_a_failed_message_says_why(partner: Partner) -> None:
    message = create(partner, recipient=to("02")).json()["data"]
    partner.platform.advance(timedelta(seconds=10))
    failed = partner.page(f"messages/{message['id']}")
    assert (failed["status"], failed["status_reason"]) == ("failed", "delivery_failed")
    assert failed["error_code"]
    assert failed["error_message"]
    assert failed["failed_at"]


def test_a_failed_rcs_attempt_may_still_end_delivered(partner: Partner) -> None:
    message = create(partner, recipient=to("04")).json()["data"]
    partner.platform.advance(timedelta(seconds=10))
    delivered = partner.page(f"messages/{message['id']}")
    assert (delivered["status"], delivered["channel_used"]) == ("delivered", "sms")
    assert delivered["error_code"]


def test_rcs_is_refused_where_the_sender_is_not_live(partner: Partner) -> None:
    partner.http.headers["X-Client-Id"] = "loc-002"
    assert at_fault(create(partner, channel="rcs")) == ["channel"]
    assert create(partner, channel="auto").status_code == 201


@pytest.mark.parametrize(("hours", "status"), [(3.4, 201), (8.4, 201), (8.6, 400), (19.4, 400), (19.6, 201)])
def test_texts_go_out_from_8_to_21_local_time(partner: Partner, hours: float, status: int) -> None:
    """The clock starts at 12:30 in New York."""
    partner.platform.advance(timedelta(hours=hours))
    answer = create(partner)
    assert answer.status_code == status
    if status == 400:
        assert at_fault(answer) == [None]


def test_more_than_120_a_minute_are_refused(partner: Partner) -> None:
    for _ in range(120):
        assert create(partner).status_code == 201
    refused = create(partner)
    assert refused.status_code == 429
    partner.http.headers["X-Client-Id"] = "loc-002"
    assert create(partner).status_code == 201
    partner.http.headers["X-Client-Id"] = "loc-001"
    partner.platform.advance(timedelta(minutes=1))
    assert create(partner).status_code == 201


REPLY = {"type": "reply", "text": "Yes"}
CARD = {"title": "A card"}


@pytest.mark.parametrize(
    "content",
    [
        {"type": "text"},
        {"type": "text", "suggestions": [REPLY] * 11},
        {"type": "media", "media_url": "https://example.com/a.png"},
        {"type": "card", "card": {"title": "t" * 200, "description": "d" * 1600, "buttons": [REPLY] * 4}},
        {"type": "carousel", "cards": [CARD] * 2},
        {"type": "carousel", "cards": [CARD] * 10},
        {"type": "text", "suggestions": [{"type": "open_url", "text": "t" * 25, "url": "https://example.com"}]},
        {"type": "text", "suggestions": [{"type": "dial", "text": "Call", "phone_number": PHONE}]},
        {"type": "text", "suggestions": [{"type": "reply", "text": "t" * 20, "id": "yes"}]},
    ],
)
def test_content_within_the_limits_is_sent(partner: Partner, content: Any) -> None:
    assert create(partner, content=content).status_code == 201


def button(**fields: Any) -> dict[str, Any]:
    return {"type": "text", "suggestions": [{"text": "Label", **fields}]}


@pytest.mark.parametrize(
    ("fields", "faults"),
    [
        ({"recipient": "-"}, ["recipient"]),
        ({"recipient": {}}, ["recipient"]),
        ({"recipient": {"phone_number": "555"}}, ["recipient.phone_number"]),
        ({"recipient": {"client_id": "none"}}, ["recipient.client_id"]),
        ({"fallback_text": "-"}, ["fallback_text"]),
        ({"fallback_text": "t" * 1601}, ["fallback_text"]),
        ({"channel": "fax"}, ["channel"]),
        ({"callback_url": "http://example.com/"}, ["callback_url"]),
        ({"callback_url": "nowhere"}, ["callback_url"]),
        ({"content": {}}, ["content.type"]),
        ({"content": {"type": "poem"}}, ["content.type"]),
        ({"content": {"type": "media"}}, ["content.media_url"]),
        ({"content": {"type": "media", "media_url": "https://gone.invalid/a.png"}}, ["content"]),
        ({"content": {"type": "text", "card": CARD}}, ["content.card"]),
        ({"content": {"type": "text", "suggestions": [REPLY] * 12}}, ["content.suggestions"]),
        ({"content": {"type": "card"}}, ["content.card"]),
        ({"content": {"type": "card", "card": {}}}, ["content.card"]),
        ({"content": {"type": "card", "card": {"title": "t" * 201}}}, ["content.card.title"]),
        ({"content": {"type": "card", "card": {"description": "d" * 1601}}}, ["content.card.description"]),
        ({"content": {"type": "card", "card": CARD | {"media_url": "http://a.com/"}}}, ["content.card.media_url"]),
        ({"content": {"type": "card", "card": CARD | {"buttons": [REPLY] * 5}}}, ["content.card.buttons"]),
        ({"content": {"type": "carousel", "cards": [CARD]}}, ["content.cards"]),
        ({"content": {"type": "carousel", "cards": [CARD] * 11}}, ["content.cards"]),
        ({"content": {"type": "carousel", "cards": [CARD, {}]}}, ["content.cards.1"]),
        (
            {"content": {"type": "carousel", "cards": [CARD] * 2, "suggestions": [REPLY]}},
            ["content.suggestions"],
        ),
        ({"content": button(type="reply", text="t" * 21)}, ["content.suggestions.0.text"]),
        ({"content": button(type="dial", text="t" * 26, phone_number=PHONE)}, ["content.suggestions.0.text"]),
        ({"content": button(type="dial")}, ["content.suggestions.0.phone_number"]),
        ({"content": button(type="open_url")}, ["content.suggestions.0.url"]),
        ({"content": button(type="open_url", url="http://example.com")}, ["content.suggestions.0.url"]),
        ({"content": button(type="reply", url="https://example.com")}, ["content.suggestions.0.url"]),
        ({"content": button(type="create_calendar_event")}, ["content"]),
        ({"content": button(type="share_location")}, ["content"]),
        ({"content": button(type="wave")}, ["content.suggestions.0.type"]),
        ({"fallback_text": "-", "channel": "fax", "recipient": "-"}, ["recipient", "fallback_text", "channel"]),
    ],
)
def test_every_offending_field_is_named(partner: Partner, fields: Any, faults: list[str]) -> None:
    assert at_fault(create(partner, **fields)) == faults
