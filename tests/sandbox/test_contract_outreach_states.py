"""Contract: States and transitions, AI outbound request: from intake to the sweeper."""

from datetime import datetime, timedelta
from uuid import uuid4

from support.booking import booking
from support.contract_breaks import rows, shows, status
from support.message_requests import send
from support.outreach_requests import REQUESTS, ended, newcomer, number, reach_out
from support.partner_side import Partner, made
from support.rules import broken_by, rule

STATES = "States / AI outbound request"
OPEN = {"received", "queued", "in_progress"}


def spent(request: dict[str, str], since: str) -> timedelta:
    return datetime.fromisoformat(request["completed_at"]) - datetime.fromisoformat(request[since])


A_WHIM = shows("requests", method="POST", suppression_reason="whim")


@rule(STATES, says="accepted")
@broken_by(status("requests", _201=200))
def test_an_accepted_request_is_a_201_and_open(partner: Partner) -> None:
    answer = reach_out(partner)
    assert answer.status_code == 201
    assert answer.json()["data"]["status"] in OPEN


@rule(STATES, says="suppressed at intake")
@broken_by(status("requests", _200=201))
def test_a_request_that_a_gate_blocks_is_a_200_and_suppressed(partner: Partner) -> None:
    answer = reach_out(partner, contact_number=number("00"))
    assert answer.status_code == 200
    request = answer.json()["data"]
    assert (request["status"], request["suppression_reason"]) == ("suppressed", "sms_opted_out")
    assert request["completed_at"] == request["created_at"]


@rule(STATES, says="non-terminal")
@broken_by(shows("requests/*", status="received"))
def test_an_open_request_comes_by_the_non_terminal_statuses(partner: Partner) -> None:
    request = made(reach_out(partner))
    seen = [request["status"]]
    for minutes in (1, 30):
        partner.later(minutes=minutes)
        seen.append(partner.page(f"{REQUESTS}/{request['id']}")["status"])
    assert set(seen) == OPEN


@rule(STATES, says="sms_opted_out", ending="00", channel="sms", reason="sms_opted_out")
@rule(STATES, says="notifications_disabled", ending="20", channel="sms", reason="notifications_disabled")
@rule(STATES, says="voice_not_supported", ending="39", channel="voice", reason="voice_not_supported")
@broken_by(A_WHIM)
def test_a_gate_at_intake(partner: Partner, ending: str, channel: str, reason: str) -> None:
    request = made(reach_out(partner, contact_number=number(ending), channel=channel), 200)
    assert request["suppression_reason"] == reason


def assert_blocked_for_72_hours(partner: Partner, client_id: str) -> None:
    partner.later(hours=71.9)
    assert made(reach_out(partner, client_id=client_id), 200)["suppression_reason"] == "recent_contact"
    partner.later(hours=0.2)
    assert reach_out(partner, client_id=client_id).status_code == 201


@rule(STATES, says="recent_contact: SMS")
@broken_by(A_WHIM)
def test_a_text_within_72_hours_is_a_recent_contact(partner: Partner) -> None:
    """The text is sent at noon; it is noon again 72 hours later."""
    client = newcomer(partner)
    assert send(partner, recipient={"client_id": client["id"]}).status_code == 201
    assert_blocked_for_72_hours(partner, client["id"])


@rule(STATES, says="recent_contact: AI phone call")
@broken_by(A_WHIM)
def test_a_phone_call_within_72_hours_is_a_recent_contact(partner: Partner) -> None:
    client = newcomer(partner)
    call = {"client_id": client["id"], "state": "completed", "direction": "outbound"}
    partner.platform.insert("loc-001", "phone_calls", call)
    assert_blocked_for_72_hours(partner, client["id"])


@rule(STATES, says="recent_contact: any campaign")
@broken_by(A_WHIM)
def test_another_campaigns_text_is_a_recent_contact(partner: Partner) -> None:
    """Staff have taken over the first conversation: it is over when the second request comes."""
    client = newcomer(partner)
    first = ended(partner, 2, client_id=client["id"], contact_number=number("25"))
    assert first["status"] == "suppressed"
    assert made(reach_out(partner, client_id=client["id"]), 200)["suppression_reason"] == "recent_contact"


@rule(STATES, says="active_conversation")
@broken_by(A_WHIM)
def test_an_open_conversation_blocks_another(partner: Partner) -> None:
    client = newcomer(partner)
    assert ended(partner, 1, client_id=client["id"])["status"] == "in_progress"
    request = made(reach_out(partner, client_id=client["id"]), 200)
    assert request["suppression_reason"] == "active_conversation"


@rule(STATES, says="recent_or_upcoming_appointment: scheduling only")
@broken_by(A_WHIM)
def test_an_upcoming_appointment_blocks_scheduling_alone(partner: Partner) -> None:
    client = newcomer(partner)
    visit = booking(partner, client_id=int(client["id"]), patient_id=int(client["patients"][0]["id"]))
    made(partner.post("appointments", visit))
    blocked = made(reach_out(partner, client_id=client["id"], purpose="scheduling"), 200)
    assert blocked["suppression_reason"] == "recent_or_upcoming_appointment"
    assert reach_out(partner, client_id=client["id"], purpose="refill").status_code == 201


@rule(STATES, says="client_inactive")
@broken_by(shows("requests/*", contacted_at=lambda row: row["created_at"]))
def test_a_client_may_go_inactive_after_acceptance(partner: Partner) -> None:
    request = made(reach_out(partner, contact_number=number("21")), 201)
    partner.later(hours=1)
    request = partner.page(f"{REQUESTS}/{request['id']}")
    assert (request["status"], request["suppression_reason"]) == ("suppressed", "client_inactive")
    assert request["contacted_at"] is None


@rule(STATES, says="re-checked")
@broken_by(shows("requests/*", status="in_progress"))
def test_eligibility_is_checked_again_at_dispatch(partner: Partner) -> None:
    """Another sender texts the client between acceptance and dispatch."""
    client = newcomer(partner)
    request = made(reach_out(partner, client_id=client["id"]), 201)
    assert send(partner, recipient={"client_id": client["id"]}).status_code == 201
    partner.later(hours=1)
    request = partner.page(f"{REQUESTS}/{request['id']}")
    assert (request["status"], request["suppression_reason"]) == ("suppressed", "recent_contact")


@rule(STATES, says="pet_deceased", ending="24", end=("suppressed", None, "pet_deceased"))
@rule(STATES, says="stopped", ending="25", end=("suppressed", None, "stopped"))
@rule(STATES, says="opted_out", ending="22", end=("completed", "opted_out", None))
@rule(STATES, says="undeliverable", ending="01", end=("failed", "undeliverable", None))
@broken_by(shows("requests/*", outcome="booked"))
def test_a_conversation_ends_by_the_clients_reaction(
    partner: Partner, ending: str, end: tuple[str, str | None, str | None]
) -> None:
    request = ended(partner, 3, contact_number=number(ending))
    assert (request["status"], request["outcome"], request["suppression_reason"]) == end
    assert request["contacted_at"]
    assert (request["error_message"] is not None) == (request["status"] == "failed")


@rule(STATES, says="booked")
@broken_by(rows("appointments", lambda _: []))
def test_a_conversation_may_end_with_a_booking(partner: Partner) -> None:
    client = newcomer(partner, number("23"))
    request = ended(partner, 3, client_id=client["id"], contact_number=number("23"))
    assert (request["status"], request["outcome"]) == ("completed", "booked")
    visits = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    assert [row["patient_name"] for row in visits if row["remote_client_id"] == "77"] == ["Rex"]


@rule(STATES, says="48 hours of silence")
@broken_by(shows("requests/*", contacted_at=lambda row: row["created_at"]))
def test_silence_ends_48_hours_after_the_first_text(partner: Partner) -> None:
    request = ended(partner, 60)
    assert (request["status"], request["outcome"]) == ("completed", "no_response")
    assert spent(request, "contacted_at") == timedelta(hours=48)


@rule(STATES, says="a reply begins the window again")
@broken_by(shows("requests/*", contacted_at=lambda row: row["created_at"]))
def test_a_reply_restarts_the_quiet_window(partner: Partner) -> None:
    """The reply comes an hour after the first text."""
    request = ended(partner, 70, contact_number=number("27"))
    assert request["outcome"] == "no_response"
    assert spent(request, "contacted_at") == timedelta(hours=49)


@rule(STATES, says="96 hours")
@broken_by(shows("requests/*", outcome="undeliverable"))
def test_the_sweeper_comes_96_hours_after_creation(partner: Partner) -> None:
    request = ended(partner, 96.1, contact_number=number("26"))
    assert (request["status"], request["outcome"], request["contacted_at"]) == ("failed", None, None)
    assert request["error_message"]
    assert spent(request, "created_at") == timedelta(hours=96)


@rule(STATES, says="terminal")
@broken_by(shows("requests/*", completed_at=lambda _: uuid4().hex))
def test_a_request_that_has_ended_stays_so(partner: Partner) -> None:
    request = ended(partner, 60)
    partner.later(hours=60)
    assert partner.page(f"{REQUESTS}/{request['id']}") == request


@rule(STATES, says="opted_out, for good")
@broken_by(shows("messages", status="sent"))
def test_who_opted_out_of_outreach_is_texted_no_more(partner: Partner) -> None:
    """This holds for messages and other requests, and for this practice alone."""
    ended(partner, 3, contact_number=number("22"))
    message = made(send(partner, recipient={"phone_number": number("22")}))
    assert (message["status"], message["status_reason"]) == ("suppressed", "opted_out")
    again = made(reach_out(partner, contact_number=number("22")))
    assert again["suppression_reason"] == "sms_opted_out"
    partner.act_for("loc-002")
    assert made(send(partner, recipient={"phone_number": number("22")}))["status"] == "sent"
