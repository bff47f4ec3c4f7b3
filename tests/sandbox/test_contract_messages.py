"""Contract: Message; Create a message; Get a message; States and transitions, Message."""

import pytest
from support.partner_requests import PHONE, RCS_PHONE, changes_of, send, to
from support.partner_side import Partner, Row, at_fault, made


@pytest.mark.parametrize(("ending", "reason"), [("00", "opted_out"), ("01", "blocked_number")])
def test_who_cannot_be_texted_never_is(partner: Partner, ending: str, reason: str) -> None:
    """Opt-out is not an error (contract: Errors)."""
    for channel in ("auto", "rcs", "sms"):
        message = made(send(partner, recipient=to(ending), channel=channel), 200)
        assert (message["status"], message["status_reason"], message["sent_at"]) == ("suppressed", reason, None)
        partner.later(minutes=10)
        assert partner.page(f"messages/{message['id']}") == message


def test_a_resent_reference_returns_the_message_and_texts_nobody(partner: Partner) -> None:
    """Another practice may use the same reference, and does not see the message."""
    first = made(send(partner, reference_id="ref-1"), 201)
    again = made(send(partner, reference_id="ref-1", fallback_text="Other words"), 200)
    got = [partner.page(f"messages/{name}") for name in (first["id"], "ref-1")]
    assert [(shown["id"], shown["reference_id"]) for shown in (first, again, *got)] == [(first["id"], "ref-1")] * 4
    partner.act_for("loc-002")
    assert partner.get(f"messages/{first['id']}").status_code == 404
    assert made(send(partner, reference_id="ref-1"), 201)["id"] != first["id"]


@pytest.mark.parametrize(("ending", "then"), [("08", 200), ("10", 201)], ids=["the provider had it", "had it not"])
def test_a_reference_resent_after_a_502_is_texted_once(partner: Partner, ending: str, then: int) -> None:
    answers = [send(partner, recipient=to(ending), reference_id="ref-1").status_code for _ in range(3)]
    assert answers == [502, then, 200]


@pytest.mark.parametrize(("wait", "status"), [(19.45, 400), (19.5, 201), (8.45, 201), (8.5, 400)])
def test_texts_go_out_from_8am_to_9pm(partner: Partner, wait: float, status: int) -> None:
    """The clock starts at 12:30 in New York."""
    partner.later(hours=wait)
    answer = send(partner)
    assert answer.status_code == status
    assert status == 201 or at_fault(answer) == [None]


def test_more_than_120_messages_a_minute_are_refused(partner: Partner) -> None:
    """Contract: Limits, for each practice."""
    assert {send(partner).status_code for _ in range(120)} == {201}
    assert send(partner).status_code == 429
    partner.act_for("loc-002")
    assert send(partner).status_code == 201
    partner.act_for("loc-001")
    partner.later(minutes=1)
    assert send(partner).status_code == 201


TO_PHONE = {"recipient": {"phone_number": PHONE}}
Seen = list[tuple[str, str | None]]
FAILED: Seen = [("sent", "rcs"), ("failed", "rcs")]
WAYS: dict[str, tuple[str, Row, Seen]] = {
    "RCS is delivered and read": ("loc-001", {}, [("sent", None), ("delivered", "rcs"), ("read", "rcs")]),
    "RCS is never read": ("loc-001", {"recipient": to("06")}, [("sent", None), ("delivered", "rcs")]),
    "an SMS is never read": ("loc-001", {"channel": "sms"}, [("sent", "sms"), ("delivered", "sms")]),
    "auto: the handset has no RCS": ("loc-001", TO_PHONE, [("sent", None), ("delivered", "sms")]),
    "auto: the sender is not live": ("loc-002", {}, [("sent", None), ("delivered", "sms")]),
    "RCS alone, the handset has none": ("loc-001", {**TO_PHONE, "channel": "rcs"}, FAILED),
    "RCS alone, the attempt fails": ("loc-001", {"recipient": to("04"), "channel": "rcs"}, FAILED),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_message_goes_its_way(partner: Partner, way: str) -> None:
    """It is 10:30 in Phoenix, whose RCS sender is not live, and 12:30 in New York, whose sender is live."""
    practice, given, seen = WAYS[way]
    partner.act_for(practice)
    assert changes_of(partner, **{"recipient": {"phone_number": RCS_PHONE}, **given}) == seen
