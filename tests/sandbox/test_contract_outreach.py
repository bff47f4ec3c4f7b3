"""Contract: AI outbound request; creating, listing and getting them."""

from support.contract_breaks import GONE, hears, shows
from support.contract_values import VALUES
from support.outreach_requests import REQUESTS, ended, newcomer, number, reach_out
from support.partner_side import Partner, Row, made
from support.rows_by_id import by_id
from support.rules import broken_as, broken_by, rule

RECORD, CREATE = "Resources / AI outbound request", "Endpoints / AI outbound requests"
GET = "Endpoints / Get a request"
ENDS: dict[str, set[str | None]] = {
    "completed": {"booked", "opted_out", "no_response"},
    "failed": {"undeliverable", None},
}
REASONS = set(VALUES["ai_outbound"]["suppression_reason"].split())


def every_request(partner: Partner) -> list[Row]:
    return partner.everything(REQUESTS)


@rule(RECORD, says="outcome; suppression_reason; error_message; completed_at")
@rule("Versioning", says="3")
@broken_by(
    shows("requests", outcome="booked"),
    shows("requests", suppression_reason=None),
    shows("requests", suppression_reason="whim"),
    shows("requests", error_message=None),
    shows("requests", completed_at=lambda row: row["created_at"]),
)
def test_the_fields_of_an_end_go_with_its_status(partner: Partner) -> None:
    """New reasons of a suppression may appear; the sandbox has none."""
    requests = every_request(partner)
    assert {row["status"] for row in requests} >= {"completed", "failed", "suppressed"}
    for row in requests:
        status, ended_at = row["status"], row["completed_at"]
        assert row["outcome"] in ENDS.get(status, {None})
        assert (row["suppression_reason"] in REASONS) == (status == "suppressed")
        assert (row["error_message"] is not None) == (status == "failed")
        assert (ended_at is not None) == (status in {*ENDS, "suppressed"})
        assert ended_at is None or ended_at >= row["created_at"]


@rule(RECORD, says="contacted_at, set; contacted_at, null")
@broken_by(shows("requests/*", contacted_at=None), shows("requests/*", contacted_at=lambda row: row["created_at"]))
def test_contacted_at_is_when_the_first_message_was_sent(partner: Partner) -> None:
    assert ended(partner, 0.1, contact_number=number("26"))["contacted_at"] is None
    contacted = ended(partner, 1)
    assert contacted["contacted_at"]
    assert contacted["created_at"] <= contacted["contacted_at"]


@rule(CREATE, says="partner_request_id", given={"partner_request_id": "p-1"})
@rule(CREATE, says="purpose", given={"purpose": "callback_followup"})
@rule(CREATE, says="context", given={"context": "Overdue"})
@rule(CREATE, says="channel", given={"channel": "voice"})
@rule(CREATE, says="contact", given={"contact_number": "+12125550177"})
@broken_as(lambda given: shows("requests", **dict.fromkeys(given, "?")))
def test_a_request_is_as_it_was_asked_for(partner: Partner, given: Row) -> None:
    assert made(reach_out(partner, **given)).items() >= given.items()


@rule(CREATE, says="client; patient")
@broken_by(shows("requests", client_id=None), shows("requests", patient_id=None))
def test_client_and_patient_are_resolved(partner: Partner) -> None:
    """The contacted number identifies them, too."""
    client = newcomer(partner, "+12125550188")
    pet = client["patients"][0]["id"]
    request = made(reach_out(partner, contact_number="+12125550188", patient_id=pet))
    assert (request["client_id"], request["patient_id"]) == (client["id"], pet)


@rule(CREATE, says="idempotency key")
@broken_by(hears("requests", partner_request_id=GONE))
def test_the_partners_id_is_an_idempotency_key(partner: Partner) -> None:
    first, again = (made(reach_out(partner, partner_request_id="p-1")) for _ in range(2))
    assert first["id"] == again["id"]
    assert first["id"] in by_id(every_request(partner))


@rule(GET, says="by the partner's id; by the service's id")
@broken_by(shows("requests/p*", id="other"), shows("requests/aor*", id="other"))
def test_a_request_is_got_by_either_id(partner: Partner) -> None:
    """This holds for one that was just created, and for a historical one."""
    created = made(reach_out(partner, partner_request_id="p-1"))
    historical = next(row for row in every_request(partner)[::-1] if row["partner_request_id"])
    for request in (created, historical):
        for either in (request["id"], request["partner_request_id"]):
            assert partner.page(f"{REQUESTS}/{either}") == request
