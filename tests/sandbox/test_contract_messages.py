"""Contract: Message; Create a message; Get a message."""

from support.contract_breaks import GONE, accepts, hears, shows, status, with_header
from support.message_requests import PHONE, send, to
from support.partner_side import Partner, at_fault, made
from support.rules import broken_by, rule


@rule("Resources / Message")
@broken_by(shows("messages", channel_requested="auto"))
def test_the_requested_channel_is_returned(partner: Partner) -> None:
    for channel in ("auto", "rcs", "sms"):
        assert made(send(partner, channel=channel))["channel_requested"] == channel


@rule("Resources / Message")
@broken_by(shows("messages", channel_used="sms"))
def test_the_channel_of_auto_is_not_known_before_the_carrier_reports(partner: Partner) -> None:
    message = made(send(partner, channel="auto"))
    assert message["channel_used"] is None
    partner.later(minutes=1)
    assert partner.page(f"messages/{message['id']}")["channel_used"] == "sms"


@rule("Resources / Message", says="opted out", ending="00", reason="opted_out")
@rule("Resources / Message", says="cannot receive texts", ending="01", reason="blocked_number")
@broken_by(shows("messages", status_reason="blocked"))
def test_a_suppressed_message_has_its_reason(partner: Partner, ending: str, reason: str) -> None:
    assert made(send(partner, recipient=to(ending)))["status_reason"] == reason


@rule("Endpoints / Create a message")
@broken_by(status("messages", _201=202))
def test_a_sent_message_is_a_201(partner: Partner) -> None:
    answer = send(partner)
    assert answer.status_code == 201
    assert answer.json()["data"]["status"] == "sent"


@rule("Endpoints / Create a message", says="1")
@broken_by(shows("messages", sent_at=None))
def test_messages_are_sent_immediately(partner: Partner) -> None:
    message = made(send(partner))
    assert message["sent_at"] == message["created_at"]


@rule("Endpoints / Create a message", says="opted out")
@broken_by(status("messages", _200=201))
def test_who_opted_out_is_suppressed_with_a_200(partner: Partner) -> None:
    """Opt-out is not an error (contract: Errors)."""
    answer = send(partner, recipient=to("00"))
    assert answer.status_code == 200
    message = answer.json()["data"]
    assert (message["status"], message["sent_at"]) == ("suppressed", None)


@rule("Endpoints / Create a message", says="5")
@broken_by(shows("messages/*", status="sent"))
def test_who_opted_out_is_never_texted(partner: Partner) -> None:
    for channel in ("auto", "rcs", "sms"):
        message = made(send(partner, recipient=to("00"), channel=channel))
        partner.later(minutes=10)
        assert partner.page(f"messages/{message['id']}") == message
        assert message["status"] == "suppressed"


@rule("Endpoints / Create a message")
@broken_by(shows("messages", client_id=None))
def test_a_client_is_texted_by_id(partner: Partner) -> None:
    client = partner.truth("clients")[0]
    assert made(send(partner, recipient={"client_id": client["id"]}))["client_id"] == client["id"]


@rule("Endpoints / Create a message")
@broken_by(hears("messages", recipient={"phone_number": PHONE}))
def test_a_clients_message_goes_to_the_primary_phone(partner: Partner) -> None:
    """The result shows the number: it has opted out."""
    client = partner.truth("clients")[0]
    partner.platform.update("loc-001", "clients", client["id"], {"phone": "+12125550100"})
    message = made(send(partner, recipient={"client_id": client["id"]}))
    assert message["status_reason"] == "opted_out"


@rule("Endpoints / Create a message")
@broken_by(shows("messages", channel_requested="sms"))
def test_the_channel_is_auto_by_default(partner: Partner) -> None:
    assert made(send(partner))["channel_requested"] == "auto"


@rule("Endpoints / Create a message")
@broken_by(hears("messages", content={}))
def test_an_sms_needs_no_content(partner: Partner) -> None:
    assert send(partner, channel="sms").status_code == 201


@rule("Endpoints / Create a message", says="reference_id")
@broken_by(shows("messages/*", reference_id=None))
def test_the_reference_is_echoed_in_every_response(partner: Partner) -> None:
    message = made(send(partner, reference_id="ref-1"))
    again = made(send(partner, reference_id="ref-1"), 200)
    got = partner.page(f"messages/{message['id']}")
    assert [shown["reference_id"] for shown in (message, again, got)] == ["ref-1"] * 3


@rule("Endpoints / Create a message", says="3")
@broken_by(hears("messages", reference_id=GONE))
def test_a_resent_reference_returns_the_message_and_texts_nobody(partner: Partner) -> None:
    first = made(send(partner, reference_id="ref-1"), 201)
    again = made(send(partner, reference_id="ref-1", fallback_text="Other words"), 200)
    assert again["id"] == first["id"]


@rule("Endpoints / Create a message", says="reference_id is of a practice")
@broken_by(with_header("x-client-id", "loc-001"))
def test_another_practice_may_use_the_same_reference(partner: Partner) -> None:
    first = made(send(partner, reference_id="ref-1"), 201)
    partner.act_for("loc-002")
    assert made(send(partner, reference_id="ref-1"), 201)["id"] != first["id"]


@rule("Endpoints / Create a message", says="3: the provider had it", ending="08", then=200)
@rule("Endpoints / Create a message", says="3: the provider had it not", ending="10", then=201)
@broken_by(hears("messages", reference_id=GONE))
def test_a_reference_resent_after_a_502_is_texted_once(partner: Partner, ending: str, then: int) -> None:
    answers = [send(partner, recipient=to(ending), reference_id="ref-1").status_code for _ in range(3)]
    assert answers == [502, then, 200]


@rule("Endpoints / Create a message", says="4")
@broken_by(hears("messages", fallback_text="Hello"))
def test_a_400_stores_nothing(partner: Partner) -> None:
    assert at_fault(send(partner, reference_id="ref-1", fallback_text=None)) == ["fallback_text"]
    assert partner.get("messages/ref-1").status_code == 404
    assert send(partner, reference_id="ref-1").status_code == 201


@rule("Endpoints / Create a message", says="2: from 8:00", wait=19.5, status=201)
@rule("Endpoints / Create a message", says="2: not before", wait=19.45, status=400)
@rule("Endpoints / Create a message", says="2: until 21:00", wait=8.45, status=201)
@rule("Endpoints / Create a message", says="2: not after", wait=8.5, status=400)
@broken_by(status("messages", _201=400, _400=201))
def test_texts_go_out_from_8am_to_9pm(partner: Partner, wait: float, status: int) -> None:
    """The clock starts at 12:30 in New York."""
    partner.later(hours=wait)
    answer = send(partner)
    assert answer.status_code == status
    assert status == 201 or at_fault(answer) == [None]


@rule("Endpoints / Create a message", says="2: local time")
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
@broken_by(shows("messages/ref-1", id="other"))
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
