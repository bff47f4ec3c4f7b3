"""Contract: States and transitions, AI outbound request: from intake to the sweeper."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from support.booking import booking
from support.contract_breaks import rows, shows, status
from support.message_requests import send
from support.outreach_requests import REQUESTS, ended, newcomer, number, reach_out
from support.partner_side import Partner, made
from support.rules import broken_by, rule, rules

STATES = "States / AI outbound request"
OPEN = {"received", "queued", "in_progress"}


A_WHIM = shows("requests", method="POST", suppression_reason="whim")


@rule(STATES, says="accepted")
@broken_by(status("requests", _201=200))
def test_an_accepted_request_is_a_201_and_open(partner: Partner) -> None:
    answer = reach_out(partner)
    assert answer.status_code == 201
    assert answer.json()["data"]["status"] in OPEN


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
@broken_by(A_WHIM, status("requests", _200=201), shows("requests", status="failed"))
def test_a_gate_at_intake(partner: Partner, ending: str, channel: str, reason: str) -> None:
    request = made(reach_out(partner, contact_number=number(ending), channel=channel), 200)
    assert (request["status"], request["suppression_reason"]) == ("suppressed", reason)
    assert request["completed_at"] == request["created_at"]


def text(partner: Partner, client_id: str) -> None:
    made(send(partner, recipient={"client_id": client_id}), 201)


def call(partner: Partner, client_id: str) -> None:
    record = {"client_id": client_id, "state": "completed", "direction": "outbound"}
    partner.platform.insert("loc-001", "phone_calls", record)


@rule(STATES, says="recent_contact: SMS", contact=text)
@rule(STATES, says="recent_contact: AI phone call", contact=call)
@broken_by(A_WHIM)
def test_a_contact_within_72_hours_is_a_recent_one(
    partner: Partner, contact: Callable[[Partner, str], None]
) -> None:
    """It is noon, and it is noon again 72 hours later."""
    client = newcomer(partner)
    contact(partner, client["id"])
    partner.later(hours=71.9)
    assert made(reach_out(partner, client_id=client["id"]), 200)["suppression_reason"] == "recent_contact"
    partner.later(hours=0.2)
    assert reach_out(partner, client_id=client["id"]).status_code == 201


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


@rules(
    STATES,
    "ending hours end waits",
    ("client_inactive", "21", 1, ("suppressed", None, "client_inactive"), None),
    ("pet_deceased", "24", 3, ("suppressed", None, "pet_deceased"), None),
    ("stopped", "25", 3, ("suppressed", None, "stopped"), None),
    ("opted_out", "22", 3, ("completed", "opted_out", None), None),
    ("undeliverable", "01", 3, ("failed", "undeliverable", None), None),
    ("48 hours of silence", "39", 60, ("completed", "no_response", None), ("contacted_at", 48)),
    (
        "a reply after an hour begins the window again",
        "27",
        70,
        ("completed", "no_response", None),
        ("contacted_at", 49),
    ),
    ("the sweeper, 96 hours after creation", "26", 96.1, ("failed", None, None), ("created_at", 96)),
)
@broken_by(
    shows("requests/*", outcome="booked"),
    shows("requests/*", completed_at=lambda _: datetime.now(UTC).isoformat()),
    shows("requests/*", contacted_at=lambda row: None if row["contacted_at"] else row["created_at"]),
)
def test_a_request_ends_for_good(
    partner: Partner,
    ending: str,
    hours: float,
    end: tuple[str, str | None, str | None],
    waits: tuple[str, int] | None,
) -> None:
    """A client who is inactive by then, or a request that never got out, was not contacted."""
    request = made(reach_out(partner, contact_number=number(ending)), 201)
    partner.later(hours=hours)
    request = partner.page(f"{REQUESTS}/{request['id']}")
    assert (request["status"], request["outcome"], request["suppression_reason"]) == end
    assert (request["contacted_at"] is None) == (ending in ("21", "26"))
    assert (request["error_message"] is not None) == (request["status"] == "failed")
    if waits is not None:
        since, waited = waits
        ended_at, began_at = (datetime.fromisoformat(request[name]) for name in ("completed_at", since))
        assert ended_at - began_at == timedelta(hours=waited)
    partner.later(hours=60)
    assert partner.page(f"{REQUESTS}/{request['id']}") == request


@rule(STATES, says="booked")
@broken_by(rows("appointments", lambda _: []))
def test_a_conversation_may_end_with_a_booking(partner: Partner) -> None:
    client = newcomer(partner, number("23"))
    request = ended(partner, 3, client_id=client["id"], contact_number=number("23"))
    assert (request["status"], request["outcome"]) == ("completed", "booked")
    visits = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    assert [row["patient_name"] for row in visits if row["remote_client_id"] == "77"] == ["Rex"]


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
