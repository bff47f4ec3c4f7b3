"""Contract: States and transitions, Message; how `channel` is used."""

from support.breaking import edited
from support.partner_side import Partner, at_fault, made
from support.rules import rule
from support.shapes import ISO
from support.texting import PHONE, RCS_PHONE, course, send, to

READ = 'return delivered, Step(timedelta(seconds=_READ_AFTER), "read_at", {"status": "read"})'


@rule(
    "States / Message", edited("messages.message:course", READ, "return (delivered,)"), says="delivered, then read"
)
def test_an_rcs_message_is_delivered_and_read(partner: Partner) -> None:
    seen = course(partner, recipient={"phone_number": RCS_PHONE})
    assert seen == [("sent", None), ("delivered", "rcs"), ("read", "rcs")]


@rule(
    "States / Message",
    edited("messages.message:course", 'wanted.channel != "sms" and ', ""),
    edited(
        "messages.message:course",
        'return (_delivered("sms"),)\n    delivered',
        'delivered = _delivered("sms")\n    delivered',
    ),
    says="read: RCS only",
)
def test_an_sms_is_never_read(partner: Partner) -> None:
    seen = course(partner, recipient={"phone_number": RCS_PHONE}, channel="sms")
    assert seen == [("sent", "sms"), ("delivered", "sms")]


@rule(
    "States / Message",
    edited("messages.store:Messages._move", "| {step.time: message.changed_at}", ""),
    edited("messages.message:_delivered", '"delivered_at", changes', '"read_at", changes'),
)
def test_every_status_has_its_time(partner: Partner) -> None:
    message = made(send(partner, recipient={"phone_number": RCS_PHONE}))
    partner.later(minutes=5)
    read = partner.page(f"messages/{message['id']}")
    assert read["status"] == "read"
    times = [read["created_at"], read["sent_at"], read["delivered_at"], read["read_at"]]
    assert None not in times
    assert times == sorted(times)
    assert read["failed_at"] is None


@rule(
    "States / Message",
    edited("messages.message:_failed", '"status": "failed"', '"status": "sent"'),
    edited("messages.message:_failed", '"error_code": "30003",', ""),
    edited("messages.message:_failed", '"error_message": "The handset cannot be reached",', ""),
    edited("messages.message:_failed", '"failed_at", changes', '"read_at", changes'),
    edited("messages.message:_failed", '"status_reason": "delivery_failed",', ""),
    says="failed",
)
def test_a_message_that_cannot_be_delivered_fails_with_its_error(partner: Partner) -> None:
    message = made(send(partner, recipient=to("02")))
    partner.later(minutes=1)
    failed = partner.page(f"messages/{message['id']}")
    assert (failed["status"], failed["status_reason"]) == ("failed", "delivery_failed")
    assert failed["error_code"]
    assert failed["error_message"]
    assert failed["failed_at"]


@rule(
    "States / Message",
    edited("messages.message:course", 'error_code="rcs_undelivered", error_message=error', ""),
    edited("messages.message:course", "if as_rcs and special", "if not as_rcs and special"),
    says="RCS fell back to SMS",
)
def test_a_failed_rcs_attempt_may_still_end_delivered(partner: Partner) -> None:
    message = made(send(partner, recipient=to("04")))
    partner.later(minutes=5)
    ended = partner.page(f"messages/{message['id']}")
    assert (ended["status"], ended["channel_used"]) == ("delivered", "sms")
    assert ended["error_code"]
    assert ended["error_message"]


BACK = 'return delivered, Step(timedelta(seconds=_READ_AFTER), "failed_at", {"status": "sent"})'


@rule("States / Message", edited("messages.message:course", READ, BACK), says="only forward")
def test_statuses_only_move_forward(partner: Partner) -> None:
    order = ["suppressed", "sent", "delivered", "failed", "read"]
    for ending in ("00", "02", "04", "06", "38", "39"):
        places = [order.index(status) for status, _ in course(partner, recipient=to(ending))]
        assert places == sorted(set(places))


@rule(
    "States / Message",
    edited("messages.store:Messages.create", "if reason is None:", "if True:"),
    says="suppressed is an end",
)
def test_a_suppressed_message_stays_so(partner: Partner) -> None:
    assert course(partner, recipient=to("00")) == [("suppressed", None)]


@rule(
    "Endpoints / Create a message",
    edited("messages.message:course", "rcs_live and ", ""),
    says="channel auto: the sender is not live",
    practice="loc-002",
    phone=RCS_PHONE,
)
@rule(
    "Endpoints / Create a message",
    edited("messages.numbers:supports_rcs", "int(phone[-1]) % 2 == 0", "True"),
    says="channel auto: the handset has no RCS",
    practice="loc-001",
    phone=PHONE,
)
def test_auto_goes_out_as_sms(partner: Partner, practice: str, phone: str) -> None:
    """At 10:30 in Phoenix, where the RCS sender is not live, and at 12:30 in New York, where it is."""
    partner.act_for(practice)
    assert course(partner, recipient={"phone_number": phone}) == [("sent", None), ("delivered", "sms")]


NEVER = 'wanted.channel == "rcs" and (special == "rcs_fails" or not as_rcs)'


@rule(
    "Endpoints / Create a message",
    edited("messages.message:course", NEVER, "False"),
    says="no handset",
    phone=PHONE,
)
@rule(
    "Endpoints / Create a message",
    edited("messages.message:course", NEVER, 'wanted.channel == "rcs" and not as_rcs'),
    says="the attempt fails",
    phone="+12125550104",
)
def test_rcs_alone_is_never_sent_as_sms(partner: Partner, phone: str) -> None:
    seen = course(partner, recipient={"phone_number": phone}, channel="rcs")
    assert seen == [("sent", "rcs"), ("failed", "rcs")]


@rule(
    "Errors",
    edited("server.messages:_wanted", 'channel == "rcs" and not practice.rcs_live', "False"),
    edited("server.messages:_wanted", 'body.fault("channel", "This', 'body.fault("recipient", "This'),
    says="400, field channel",
)
def test_rcs_is_refused_where_the_sender_is_not_live(partner: Partner) -> None:
    partner.act_for("loc-002")
    assert at_fault(send(partner, channel="rcs")) == ["channel"]
    assert send(partner, channel="auto").status_code == 201
    assert send(partner, channel="sms").status_code == 201


@rule("Resources / Message", edited("stamps:stamped", "stamp(value,", "'at ' + stamp(value,"), says="times")
def test_its_times_are_date_times(partner: Partner) -> None:
    message = made(send(partner, recipient={"phone_number": RCS_PHONE}))
    partner.later(minutes=5)
    shown = partner.page(f"messages/{message['id']}")
    times = [shown[name] for name in ("created_at", "sent_at", "delivered_at", "read_at")]
    assert all(ISO.fullmatch(at) for at in times)
