"""Contract: States and transitions, Message; how `channel` is used."""

from support.contract_breaks import accepts, shows
from support.message_requests import PHONE, RCS_PHONE, changes_of, send, to
from support.partner_side import Partner, at_fault, made
from support.rules import broken_by, rule, rules


@rule("States / Message", says="delivered, then read")
@broken_by(shows("messages/*", status=lambda message: message["status"].replace("read", "delivered")))
def test_an_rcs_message_is_delivered_and_read(partner: Partner) -> None:
    seen = changes_of(partner, recipient={"phone_number": RCS_PHONE})
    assert seen == [("sent", None), ("delivered", "rcs"), ("read", "rcs")]


@rule("States / Message", says="read: RCS only")
@broken_by(shows("messages/*", status="read"))
def test_an_sms_is_never_read(partner: Partner) -> None:
    seen = changes_of(partner, recipient={"phone_number": RCS_PHONE}, channel="sms")
    assert seen == [("sent", "sms"), ("delivered", "sms")]


@rule("States / Message", says="times")
@broken_by(shows("messages/*", delivered_at=None), shows("messages/*", failed_at="2026-01-15T17:30:00Z"))
def test_every_status_has_its_time(partner: Partner) -> None:
    message = made(send(partner, recipient={"phone_number": RCS_PHONE}))
    partner.later(minutes=5)
    read = partner.page(f"messages/{message['id']}")
    times = [read[name] for name in ("created_at", "sent_at", "delivered_at", "read_at")]
    assert None not in times
    assert times == sorted(times)
    assert read["failed_at"] is None


@rule("States / Message", says="failed")
@broken_by(shows("messages/*", error_code=None))
def test_a_message_that_cannot_be_delivered_fails_with_its_error(partner: Partner) -> None:
    message = made(send(partner, recipient=to("02")))
    partner.later(minutes=1)
    failed = partner.page(f"messages/{message['id']}")
    assert (failed["status"], failed["status_reason"]) == ("failed", "delivery_failed")
    assert failed["error_code"]
    assert failed["error_message"]
    assert failed["failed_at"]


@rule("States / Message", says="RCS fell back to SMS")
@broken_by(shows("messages/*", channel_used="rcs"))
def test_a_failed_rcs_attempt_may_still_end_delivered(partner: Partner) -> None:
    message = made(send(partner, recipient=to("04")))
    partner.later(minutes=5)
    ended = partner.page(f"messages/{message['id']}")
    assert (ended["status"], ended["channel_used"]) == ("delivered", "sms")
    assert ended["error_code"]
    assert ended["error_message"]


@rule("States / Message", says="only forward")
@broken_by(shows("messages/*", status=lambda message: message["status"].replace("read", "sent")))
def test_statuses_only_move_forward(partner: Partner) -> None:
    order = ["suppressed", "sent", "delivered", "failed", "read"]
    for ending in ("00", "02", "04", "06", "38", "39"):
        places = [order.index(status) for status, _ in changes_of(partner, recipient=to(ending))]
        assert places == sorted(set(places))


@rules(
    "Endpoints / Create a message",
    "practice phone",
    ("channel auto: the sender is not live", "loc-002", RCS_PHONE),
    ("channel auto: the handset has no RCS", "loc-001", PHONE),
)
@broken_by(shows("messages/*", channel_used="rcs"))
def test_auto_goes_out_as_sms(partner: Partner, practice: str, phone: str) -> None:
    """It is 10:30 in Phoenix, whose RCS sender is not live, and 12:30 in New York, whose sender is live."""
    partner.act_for(practice)
    assert changes_of(partner, recipient={"phone_number": phone}) == [("sent", None), ("delivered", "sms")]


@rule("Endpoints / Create a message", says="no handset", phone=PHONE)
@rule("Endpoints / Create a message", says="the attempt fails", phone="+12125550104")
@broken_by(shows("messages/*", channel_used="sms"))
def test_rcs_alone_is_never_sent_as_sms(partner: Partner, phone: str) -> None:
    seen = changes_of(partner, recipient={"phone_number": phone}, channel="rcs")
    assert seen == [("sent", "rcs"), ("failed", "rcs")]


@rule("Errors", says="400, field channel")
@broken_by(accepts())
def test_rcs_is_refused_if_the_sender_is_not_live(partner: Partner) -> None:
    partner.act_for("loc-002")
    assert at_fault(send(partner, channel="rcs")) == ["channel"]
    assert send(partner, channel="auto").status_code == 201
    assert send(partner, channel="sms").status_code == 201
