"""Contract: States and transitions, AI outbound request: from intake to the sweeper."""

from datetime import datetime, timedelta

from support.booking import booking
from support.breaking import edited, replaced
from support.contacting import REQUESTS, ended, newcomer, number, reach_out
from support.partner_side import Partner, made
from support.rules import rule
from support.texting import send

STATES = "States / AI outbound request"
OPEN = {"received", "queued", "in_progress"}
GATE = "gates:closed_gate"


def spent(request: dict[str, str], since: str) -> timedelta:
    return datetime.fromisoformat(request["completed_at"]) - datetime.fromisoformat(request[since])


@rule(
    STATES,
    edited("server.ai_outbound:create_request", "is not None else 201", "is not None else 200"),
    says="accepted",
)
def test_an_accepted_request_is_a_201_and_open(partner: Partner) -> None:
    answer = reach_out(partner)
    assert answer.status_code == 201
    assert answer.json()["data"]["status"] in OPEN


@rule(
    STATES,
    edited("server.ai_outbound:create_request", "200 if suppressed", "201 if suppressed"),
    edited("outreach:Outreach.accept", "suppression_reason=gate", "error_message=gate"),
    says="suppressed at intake",
)
def test_a_request_that_a_gate_blocks_is_a_200_and_suppressed(partner: Partner) -> None:
    answer = reach_out(partner, contact_number=number("00"))
    assert answer.status_code == 200
    request = answer.json()["data"]
    assert (request["status"], request["suppression_reason"]) == ("suppressed", "sms_opted_out")
    assert request["completed_at"] == request["created_at"]


@rule(
    STATES,
    edited("outreach:Outreach._queue", '{"status": "queued"}', '{"status": "received"}'),
    says="non-terminal",
)
def test_an_open_request_comes_by_the_non_terminal_statuses(partner: Partner) -> None:
    request = made(reach_out(partner))
    seen = [request["status"]]
    for minutes in (1, 30):
        partner.later(minutes=minutes)
        seen.append(partner.page(f"{REQUESTS}/{request['id']}")["status"])
    assert set(seen) == OPEN


@rule(
    STATES,
    edited(GATE, '== "opted_out"', '== "?"'),
    says="sms_opted_out",
    ending="00",
    channel="sms",
    reason="sms_opted_out",
)
@rule(
    STATES,
    edited(GATE, '== "notifications_disabled"', '== "?"'),
    says="notifications_disabled",
    ending="20",
    channel="sms",
    reason="notifications_disabled",
)
@rule(
    STATES,
    edited(GATE, 'request["channel"] == "voice"', "False"),
    says="voice_not_supported",
    ending="39",
    channel="voice",
    reason="voice_not_supported",
)
def test_a_gate_at_intake(partner: Partner, ending: str, channel: str, reason: str) -> None:
    request = made(reach_out(partner, contact_number=number(ending), channel=channel), 200)
    assert request["suppression_reason"] == reason


@rule(
    STATES,
    edited("gates:_recently_contacted", "or past.messages.texted(past.practice_id, client_id, since)", ""),
    replaced("gates:RECENT", timedelta(hours=73)),
    replaced("gates:RECENT", timedelta(hours=71)),
    says="recent_contact: SMS",
)
def test_a_text_within_72_hours_is_a_recent_contact(partner: Partner) -> None:
    """Sent at noon; it is noon again 72 hours later."""
    client = newcomer(partner)
    assert send(partner, recipient={"client_id": client["id"]}).status_code == 201
    partner.later(hours=71.9)
    blocked = made(reach_out(partner, client_id=client["id"]), 200)
    assert blocked["suppression_reason"] == "recent_contact"
    partner.later(hours=0.2)
    assert reach_out(partner, client_id=client["id"]).status_code == 201


@rule(
    STATES,
    edited("gates:_recently_contacted", "calls.height > 0", "False"),
    replaced("gates:RECENT", timedelta(hours=73)),
    replaced("gates:RECENT", timedelta(hours=71)),
    says="recent_contact: AI phone call",
)
def test_a_phone_call_within_72_hours_is_a_recent_contact(partner: Partner) -> None:
    client = newcomer(partner)
    call = {"client_id": client["id"], "state": "completed", "direction": "outbound"}
    partner.platform.insert("loc-001", "phone_calls", call)
    partner.later(hours=71.9)
    blocked = made(reach_out(partner, client_id=client["id"]), 200)
    assert blocked["suppression_reason"] == "recent_contact"
    partner.later(hours=0.2)
    assert reach_out(partner, client_id=client["id"]).status_code == 201


@rule(
    STATES,
    edited("gates:_recently_contacted", "or texted.height > 0", ""),
    says="recent_contact: any campaign",
)
def test_another_campaigns_text_is_a_recent_contact(partner: Partner) -> None:
    """Staff have taken over the first conversation: it is over when the second request comes."""
    client = newcomer(partner)
    first = ended(partner, 2, client_id=client["id"], contact_number=number("25"))
    assert first["status"] == "suppressed"
    assert made(reach_out(partner, client_id=client["id"]), 200)["suppression_reason"] == "recent_contact"


@rule(
    STATES,
    edited(GATE, 'others["status"] == "in_progress"', 'others["status"] == "x"'),
    says="active_conversation",
)
def test_an_open_conversation_blocks_another(partner: Partner) -> None:
    client = newcomer(partner)
    assert ended(partner, 1, client_id=client["id"])["status"] == "in_progress"
    request = made(reach_out(partner, client_id=client["id"]), 200)
    assert request["suppression_reason"] == "active_conversation"


@rule(
    STATES,
    edited(GATE, 'request["purpose"] == "scheduling" and', ""),
    edited(GATE, '"recent_or_upcoming_appointment"', "None"),
    says="recent_or_upcoming_appointment: scheduling only",
)
def test_an_upcoming_appointment_blocks_scheduling_alone(partner: Partner) -> None:
    client = newcomer(partner)
    visit = booking(partner, client_id=int(client["id"]), patient_id=int(client["patients"][0]["id"]))
    made(partner.post("appointments", visit))
    blocked = made(reach_out(partner, client_id=client["id"], purpose="scheduling"), 200)
    assert blocked["suppression_reason"] == "recent_or_upcoming_appointment"
    assert reach_out(partner, client_id=client["id"], purpose="refill").status_code == 201


@rule(STATES, edited("outreach:Outreach._dispatch", 'special == "inactive"', "False"), says="client_inactive")
def test_a_client_may_go_inactive_after_acceptance(partner: Partner) -> None:
    request = made(reach_out(partner, contact_number=number("21")), 201)
    partner.later(hours=1)
    request = partner.page(f"{REQUESTS}/{request['id']}")
    assert (request["status"], request["suppression_reason"]) == ("suppressed", "client_inactive")
    assert request["contacted_at"] is None


@rule(
    STATES,
    edited("outreach:Outreach._dispatch", "self._office.closed(practice, request)", "None"),
    says="re-checked",
)
def test_eligibility_is_checked_again_at_dispatch(partner: Partner) -> None:
    """The client is texted by somebody else between acceptance and dispatch."""
    client = newcomer(partner)
    request = made(reach_out(partner, client_id=client["id"]), 201)
    assert send(partner, recipient={"client_id": client["id"]}).status_code == 201
    partner.later(hours=1)
    request = partner.page(f"{REQUESTS}/{request['id']}")
    assert (request["status"], request["suppression_reason"]) == ("suppressed", "recent_contact")


@rule(
    STATES,
    edited("outreach:Outreach._dispatch", "_ENDS.get(special", '_ENDS.get("" and special'),
    says="pet_deceased",
    ending="24",
    end=("suppressed", None, "pet_deceased"),
)
@rule(
    STATES,
    edited("outreach:Outreach._dispatch", "_ENDS.get(special", '_ENDS.get("" and special'),
    says="stopped",
    ending="25",
    end=("suppressed", None, "stopped"),
)
@rule(
    STATES,
    edited("outreach:Outreach._dispatch", "_ENDS.get(special", '_ENDS.get("" and special'),
    says="opted_out",
    ending="22",
    end=("completed", "opted_out", None),
)
@rule(
    STATES,
    edited("outreach:Outreach._dispatch", "_ENDS.get(special", '_ENDS.get("" and special'),
    says="undeliverable",
    ending="01",
    end=("failed", "undeliverable", None),
)
def test_a_conversation_ends_by_what_the_client_does(
    partner: Partner, ending: str, end: tuple[str, str | None, str | None]
) -> None:
    request = ended(partner, 3, contact_number=number(ending))
    assert (request["status"], request["outcome"], request["suppression_reason"]) == end
    assert request["contacted_at"]
    assert (request["error_message"] is not None) == (request["status"] == "failed")


@rule(
    STATES,
    edited("outreach:Outreach._book", 'outcome="booked"', 'outcome="opted_out"'),
    edited("desk:Desk._book_for_request", 'client is None or not client["patients"]', "True"),
    says="booked",
)
def test_a_conversation_may_end_with_a_booking(partner: Partner) -> None:
    client = newcomer(partner, number("23"))
    request = ended(partner, 3, client_id=client["id"], contact_number=number("23"))
    assert (request["status"], request["outcome"]) == ("completed", "booked")
    visits = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    assert [row["patient_name"] for row in visits if row["remote_client_id"] == "77"] == ["Rex"]


SILENT = {"status": "completed", "outcome": "no_response"}


@rule(
    STATES,
    replaced("outreach:_SILENCE", (timedelta(hours=47), SILENT)),
    replaced("outreach:_SILENCE", (timedelta(hours=49), SILENT)),
    replaced("outreach:_SILENCE", (timedelta(hours=48), SILENT | {"outcome": "opted_out"})),
    says="48 hours of silence",
)
def test_silence_ends_48_hours_after_the_first_text(partner: Partner) -> None:
    request = ended(partner, 60)
    assert (request["status"], request["outcome"]) == ("completed", "no_response")
    assert spent(request, "contacted_at") == timedelta(hours=48)


@rule(STATES, edited("outreach:Outreach._dispatch", "special or", '"" or'), says="a reply begins the window anew")
def test_a_reply_begins_the_quiet_window_anew(partner: Partner) -> None:
    """The reply comes an hour after the first text."""
    request = ended(partner, 70, contact_number=number("27"))
    assert request["outcome"] == "no_response"
    assert spent(request, "contacted_at") == timedelta(hours=49)


@rule(
    STATES,
    replaced("outreach:SWEPT_AFTER", timedelta(hours=95)),
    replaced("outreach:SWEPT_AFTER", timedelta(hours=97)),
    edited("outreach:Outreach._sweep", "error_message=message", 'outcome="undeliverable"'),
    says="96 hours",
)
def test_the_sweeper_comes_96_hours_after_creation(partner: Partner) -> None:
    request = ended(partner, 96.1, contact_number=number("26"))
    assert (request["status"], request["outcome"], request["contacted_at"]) == ("failed", None, None)
    assert request["error_message"]
    assert spent(request, "created_at") == timedelta(hours=96)


@rule(STATES, edited("outreach:Outreach._open", 'request["status"] in FINAL', "False"), says="terminal")
def test_a_request_that_has_ended_stays_so(partner: Partner) -> None:
    request = ended(partner, 60)
    partner.later(hours=60)
    assert partner.page(f"{REQUESTS}/{request['id']}") == request


@rule(
    STATES,
    edited("desk:Desk._outreach_finished", 'request["outcome"] == "opted_out"', "False"),
    edited("messages.store:Messages.refusal", "(practice_id, phone) in self._stopped", "False"),
    says="opted_out, for good",
)
def test_who_opted_out_of_outreach_is_texted_no_more(partner: Partner) -> None:
    """Neither by message nor by another request, and by this practice alone."""
    ended(partner, 3, contact_number=number("22"))
    message = made(send(partner, recipient={"phone_number": number("22")}))
    assert (message["status"], message["status_reason"]) == ("suppressed", "opted_out")
    again = made(reach_out(partner, contact_number=number("22")))
    assert again["suppression_reason"] == "sms_opted_out"
    partner.act_for("loc-002")
    assert made(send(partner, recipient={"phone_number": number("22")}))["status"] == "sent"
