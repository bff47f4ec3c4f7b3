"""Contract: Message; Create a message; Get a message."""

from support.contract_breaks import GONE, accepts, answers, hears, shows, status, with_header
from support.message_requests import PHONE, send, to
from support.partner_side import Partner, Row, at_fault, made
from support.rules import broken_by, rule

CREATE = "Endpoints / Create a message"


@rule(CREATE, says="201, sent immediately", given={}, channel="auto")
@rule("Resources / Message", says="auto", given={"channel": "auto"}, channel="auto")
@rule("Resources / Message", says="rcs", given={"channel": "rcs"}, channel="rcs")
@rule("Resources / Message", says="sms, without content", given={"channel": "sms"}, channel="sms")
@broken_by(
    status("messages", _201=202),
    shows("messages", sent_at=None),
    shows("messages", status="delivered"),
    shows("messages", channel_requested="fax"),
)
def test_a_message_is_sent_immediately(partner: Partner, given: Row, channel: str) -> None:
    message = made(send(partner, **given), 201)
    assert (message["status"], message["sent_at"]) == ("sent", message["created_at"])
    assert message["channel_requested"] == channel


@rule("Resources / Message", says="opted out", ending="00", reason="opted_out")
@rule("Resources / Message", says="cannot receive texts", ending="01", reason="blocked_number")
@rule(CREATE, says="5", ending="00", reason="opted_out")
@broken_by(
    status("messages", _200=201),
    shows("messages", status_reason="blocked"),
    shows("messages", status="sent"),
    shows("messages/*", status="sent"),
)
def test_who_cannot_be_texted_never_is(partner: Partner, ending: str, reason: str) -> None:
    """Opt-out is not an error (contract: Errors)."""
    for channel in ("auto", "rcs", "sms"):
        message = made(send(partner, recipient=to(ending), channel=channel), 200)
        assert (message["status"], message["status_reason"], message["sent_at"]) == ("suppressed", reason, None)
        partner.later(minutes=10)
        assert partner.page(f"messages/{message['id']}") == message


@rule(CREATE, says="recipient.client_id")
@broken_by(shows("messages", client_id=None), hears("messages", recipient={"phone_number": PHONE}))
def test_a_clients_message_goes_to_the_primary_phone(partner: Partner) -> None:
    """The result shows the number: it has opted out."""
    client = partner.truth("clients")[0]
    partner.platform.update("loc-001", "clients", client["id"], {"phone": "+12125550100"})
    message = made(send(partner, recipient={"client_id": client["id"]}))
    assert (message["client_id"], message["status_reason"]) == (client["id"], "opted_out")


@rule(CREATE, says="3; reference_id")
@broken_by(
    hears("messages", reference_id=GONE),
    shows("messages/*", reference_id=None),
    shows("messages", reference_id=None),
    with_header("x-client-id", "loc-001"),
)
def test_a_resent_reference_returns_the_message_and_texts_nobody(partner: Partner) -> None:
    """Another practice may use the same reference."""
    first = made(send(partner, reference_id="ref-1"), 201)
    again = made(send(partner, reference_id="ref-1", fallback_text="Other words"), 200)
    got = partner.page(f"messages/{first['id']}")
    assert [(shown["id"], shown["reference_id"]) for shown in (first, again, got)] == [(first["id"], "ref-1")] * 3
    partner.act_for("loc-002")
    answer = send(partner, reference_id="ref-1")
    assert answer.status_code == 201
    assert made(answer)["id"] != first["id"]


@rule(CREATE, says="3: the provider had it", ending="08", then=200)
@rule(CREATE, says="3: the provider had it not", ending="10", then=201)
@broken_by(hears("messages", reference_id=GONE))
def test_a_reference_resent_after_a_502_is_texted_once(partner: Partner, ending: str, then: int) -> None:
    answers = [send(partner, recipient=to(ending), reference_id="ref-1").status_code for _ in range(3)]
    assert answers == [502, then, 200]


@rule(CREATE, says="4")
@broken_by(hears("messages", fallback_text="Hello"))
def test_a_400_stores_nothing(partner: Partner) -> None:
    assert at_fault(send(partner, reference_id="ref-1", fallback_text=None)) == ["fallback_text"]
    assert partner.get("messages/ref-1").status_code == 404
    assert send(partner, reference_id="ref-1").status_code == 201


@rule(CREATE, says="2: from 8:00", wait=19.5, status=201)
@rule(CREATE, says="2: not before", wait=19.45, status=400)
@rule(CREATE, says="2: until 21:00", wait=8.45, status=201)
@rule(CREATE, says="2: not after", wait=8.5, status=400)
@broken_by(status("messages", _201=400, _400=201))
def test_texts_go_out_from_8am_to_9pm(partner: Partner, wait: float, status: int) -> None:
    """The clock starts at 12:30 in New York."""
    partner.later(hours=wait)
    answer = send(partner)
    assert answer.status_code == status
    assert status == 201 or at_fault(answer) == [None]


@rule(CREATE, says="2: local time")
@broken_by(accepts())
def test_sending_hours_are_in_the_practices_local_time(partner: Partner) -> None:
    """It is 17:30 UTC, and early in the morning in Sydney."""
    partner.act_for("loc-003")
    assert at_fault(send(partner)) == [None]


@rule("Limits", says="120 messages a minute and practice")
@broken_by(status("messages", _429=201))
def test_more_than_120_messages_a_minute_are_refused(partner: Partner) -> None:
    assert {send(partner).status_code for _ in range(120)} == {201}
    assert send(partner).status_code == 429
    partner.act_for("loc-002")
    assert send(partner).status_code == 201
    partner.act_for("loc-001")
    partner.later(minutes=1)
    assert send(partner).status_code == 201


@rule("Endpoints / Get a message", says="by id")
@broken_by(shows("messages/ref-1", id="other"), answers("messages/m*", lambda _: {}))
def test_a_message_is_got_by_its_id_and_by_the_partners(partner: Partner) -> None:
    message = made(send(partner, reference_id="ref-1"))
    assert partner.page(f"messages/{message['id']}") == message
    assert partner.page("messages/ref-1") == message


@rule("Endpoints / Get a message")
@broken_by(with_header("x-client-id", "loc-001"))
def test_a_message_of_another_practice_is_not_there(partner: Partner) -> None:
    message = made(send(partner))
    partner.act_for("loc-002")
    assert partner.get(f"messages/{message['id']}").status_code == 404
