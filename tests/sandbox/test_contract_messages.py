"""Contract: Message; Create a message; Get a message."""

from support.breaking import Break, edited, replaced
from support.partner_side import Partner, at_fault, made
from support.rules import rule
from support.texting import PHONE, send, to

BORN, CREATE = "messages.store:Messages._born", "messages.store:Messages.create"
HANDLER, REFUSALS = "server.messages:create_message", "messages.store:_REFUSALS"
FIELDS = {
    "id", "reference_id", "status", "status_reason", "channel_requested", "channel_used", "client_id",
    "error_code", "error_message", "sent_at", "delivered_at", "read_at", "failed_at", "created_at",
}  # fmt: skip


def hours(first: int, end: int) -> Break:
    return replaced("server.messages:SENDING_HOURS", range(first, end))


@rule("Resources / Message", edited(BORN, "**dict.fromkeys(_TIMES),", ""))
def test_a_message_has_its_fields(partner: Partner) -> None:
    message = made(send(partner))
    assert set(message) == FIELDS
    assert set(partner.page(f"messages/{message['id']}")) == FIELDS


@rule(
    "Resources / Message",
    edited(BORN, '"channel_requested": wanted.channel', '"channel_requested": "auto"'),
)
def test_the_channel_that_was_asked_for_is_told(partner: Partner) -> None:
    for channel in ("auto", "rcs", "sms"):
        assert made(send(partner, channel=channel))["channel_requested"] == channel


@rule(
    "Resources / Message",
    edited(BORN, 'None if suppressed or wanted.channel == "auto" else', '"sms" if suppressed else'),
)
def test_the_channel_of_auto_is_not_known_before_the_carrier_tells(partner: Partner) -> None:
    message = made(send(partner, channel="auto"))
    assert message["channel_used"] is None
    partner.later(minutes=1)
    assert partner.page(f"messages/{message['id']}")["channel_used"] == "sms"


@rule(
    "Resources / Message",
    replaced(REFUSALS, {"opted_out": "STOP", "blocked": "blocked_number"}),
    says="opted out",
    ending="00",
    reason="opted_out",
)
@rule(
    "Resources / Message",
    replaced(REFUSALS, {"opted_out": "opted_out", "blocked": "landline"}),
    says="cannot receive texts",
    ending="01",
    reason="blocked_number",
)
def test_a_suppressed_message_tells_the_reason(partner: Partner, ending: str, reason: str) -> None:
    assert made(send(partner, recipient=to(ending)))["status_reason"] == reason


@rule(
    "Endpoints / Create a message",
    edited(HANDLER, '"suppressed" else 201', '"suppressed" else 202'),
)
def test_a_sent_message_is_a_201(partner: Partner) -> None:
    answer = send(partner)
    assert answer.status_code == 201
    assert answer.json()["data"]["status"] == "sent"


@rule(
    "Endpoints / Create a message",
    edited(BORN, '"sent_at": None if suppressed else now', '"sent_at": None'),
    says="1",
)
def test_messages_are_sent_immediately(partner: Partner) -> None:
    message = made(send(partner))
    assert message["sent_at"] == message["created_at"]


@rule(
    "Endpoints / Create a message",
    edited(HANDLER, '200 if message.status == "suppressed" else 201', "201"),
    replaced(REFUSALS, {"blocked": "blocked_number"}),
    says="opted out",
)
def test_who_opted_out_is_suppressed_with_a_200(partner: Partner) -> None:
    """Opt-out is not an error (contract: Errors)."""
    answer = send(partner, recipient=to("00"))
    assert answer.status_code == 200
    message = answer.json()["data"]
    assert (message["status"], message["sent_at"]) == ("suppressed", None)


@rule(
    "Endpoints / Create a message",
    edited(CREATE, "if reason is None:", 'if reason is None or wanted.channel == "sms":'),
    says="5",
)
def test_who_opted_out_is_never_texted(partner: Partner) -> None:
    for channel in ("auto", "rcs", "sms"):
        message = made(send(partner, recipient=to("00"), channel=channel))
        partner.later(minutes=10)
        assert partner.page(f"messages/{message['id']}") == message
        assert message["status"] == "suppressed"


PRIMARY = 'return client["phone"], str(client["id"])'


@rule(
    "Endpoints / Create a message", edited("server.messages:_recipient", PRIMARY, 'return client["phone"], None')
)
def test_a_client_is_texted_by_id(partner: Partner) -> None:
    client = partner.truth("clients")[0]
    assert made(send(partner, recipient={"client_id": client["id"]}))["client_id"] == client["id"]


@rule(
    "Endpoints / Create a message",
    edited("server.messages:_recipient", PRIMARY, f'return "{PHONE}", str(client["id"])'),
)
def test_a_clients_message_goes_to_the_primary_phone(partner: Partner) -> None:
    """Seen by what happens to that number: it has opted out."""
    client = partner.truth("clients")[0]
    partner.platform.update("loc-001", "clients", client["id"], {"phone": "+12125550100"})
    message = made(send(partner, recipient={"client_id": client["id"]}))
    assert message["status_reason"] == "opted_out"


@rule("Endpoints / Create a message", edited("server.messages:_wanted", ') or "auto"', ') or "sms"'))
def test_the_channel_is_auto_unless_told(partner: Partner) -> None:
    assert made(send(partner))["channel_requested"] == "auto"


@rule(
    "Endpoints / Create a message",
    edited("server.messages:_wanted", 'body.child("content")', 'body.child("content", required=True)'),
)
def test_an_sms_needs_no_content(partner: Partner) -> None:
    assert send(partner, channel="sms").status_code == 201


@rule(
    "Endpoints / Create a message",
    edited(BORN, '"reference_id": wanted.reference_id', '"reference_id": None'),
    says="reference_id",
)
def test_the_reference_is_echoed_in_every_response(partner: Partner) -> None:
    message = made(send(partner, reference_id="ref-1"))
    again = made(send(partner, reference_id="ref-1"), 200)
    got = partner.page(f"messages/{message['id']}")
    assert [shown["reference_id"] for shown in (message, again, got)] == ["ref-1"] * 3


@rule(
    "Endpoints / Create a message",
    edited(HANDLER, "find(practice.id, reference) if reference else None", "find(practice.id, '')"),
    edited(HANDLER, "return _answer(platform, known, 200)", "return _answer(platform, known, 201)"),
    says="3",
)
def test_a_resent_reference_returns_the_message_and_texts_nobody(partner: Partner) -> None:
    first = made(send(partner, reference_id="ref-1"), 201)
    again = made(send(partner, reference_id="ref-1", fallback_text="Other words"), 200)
    assert again["id"] == first["id"]


ANYBODYS = "next((m for (_, key), m in self._known.items() if key == either_id), None)"


@rule(
    "Endpoints / Create a message",
    edited("messages.store:Messages.find", "self._known.get((practice_id, either_id))", ANYBODYS),
    says="reference_id is of a practice",
)
def test_another_practice_may_use_the_same_reference(partner: Partner) -> None:
    first = made(send(partner, reference_id="ref-1"), 201)
    partner.act_for("loc-002")
    assert made(send(partner, reference_id="ref-1"), 201)["id"] != first["id"]


ONCE = "and attempt not in self._failed_once"


@rule(
    "Endpoints / Create a message",
    edited(BORN, "self._known[practice.id, key] = message", "self._known[practice.id, message.id] = message"),
    says="3: the provider had it",
    ending="08",
    then=200,
)
@rule(
    "Endpoints / Create a message",
    edited(CREATE, ONCE, ""),
    edited(CREATE, 'fails and special == "not_handed_over"', 'fails and special == "x"'),
    says="3: the provider had it not",
    ending="10",
    then=201,
)
def test_a_reference_resent_after_a_502_is_texted_once(partner: Partner, ending: str, then: int) -> None:
    answers = [send(partner, recipient=to(ending), reference_id="ref-1").status_code for _ in range(3)]
    assert answers == [502, then, 200]


STORED = "wanted is not None and platform.desk.messages.create(practice, wanted); body.finish()"


@rule("Endpoints / Create a message", edited(HANDLER, "body.finish()", STORED), says="4")
def test_a_400_stores_nothing(partner: Partner) -> None:
    assert at_fault(send(partner, reference_id="ref-1", fallback_text=None)) == ["fallback_text"]
    assert partner.get("messages/ref-1").status_code == 404
    assert send(partner, reference_id="ref-1").status_code == 201


@rule("Endpoints / Create a message", hours(9, 21), says="2: from 8:00", wait=19.5, status=201)
@rule("Endpoints / Create a message", hours(7, 21), says="2: not before", wait=19.45, status=400)
@rule("Endpoints / Create a message", hours(8, 20), says="2: until 21:00", wait=8.45, status=201)
@rule("Endpoints / Create a message", hours(8, 22), says="2: not after", wait=8.5, status=400)
def test_texts_go_out_from_8am_to_9pm(partner: Partner, wait: float, status: int) -> None:
    """The clock starts at 12:30 in New York."""
    partner.later(hours=wait)
    answer = send(partner)
    assert answer.status_code == status
    assert status == 201 or at_fault(answer) == [None]


@rule(
    "Endpoints / Create a message",
    edited("server.messages:_check_time", "now.astimezone(practice.zone).hour", "now.hour"),
    says="2: local time",
)
def test_sending_hours_are_in_the_practices_local_time(partner: Partner) -> None:
    """It is 17:30 UTC, and early in the morning in Sydney."""
    partner.act_for("loc-003")
    assert at_fault(send(partner)) == [None]


@rule(
    "Limits",
    replaced("messages.store:A_MINUTE", 121),
    replaced("messages.store:A_MINUTE", 119),
    edited("messages.store:Messages.admits", "timedelta(minutes=1)", "timedelta(minutes=5)"),
    edited(
        "messages.store:Messages.admits", "self._recent.setdefault(practice_id", 'self._recent.setdefault("all"'
    ),
    says="120 messages a minute and practice",
)
def test_more_than_120_messages_a_minute_are_refused(partner: Partner) -> None:
    assert {send(partner).status_code for _ in range(120)} == {201}
    assert send(partner).status_code == 429
    partner.act_for("loc-002")
    assert send(partner).status_code == 201
    partner.act_for("loc-001")
    partner.later(minutes=1)
    assert send(partner).status_code == 201


@rule(
    "Endpoints / Get a message",
    edited(BORN, "(message.id, wanted.reference_id)", "(message.id, )"),
)
@rule(
    "Endpoints / Get a message",
    edited(BORN, "(message.id, wanted.reference_id)", "(wanted.reference_id, )"),
    says="by id",
)
def test_a_message_is_got_by_its_id_and_by_the_partners(partner: Partner) -> None:
    message = made(send(partner, reference_id="ref-1"))
    assert partner.page(f"messages/{message['id']}") == message
    assert partner.page("messages/ref-1") == message


@rule(
    "Endpoints / Get a message",
    edited("messages.store:Messages.find", "self._known.get((practice_id, either_id))", ANYBODYS),
)
def test_a_message_of_another_practice_is_not_there(partner: Partner) -> None:
    message = made(send(partner))
    partner.act_for("loc-002")
    assert partner.get(f"messages/{message['id']}").status_code == 404
