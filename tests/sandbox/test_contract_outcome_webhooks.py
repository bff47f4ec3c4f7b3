"""Contract: AI outbound outcome webhook."""

import pytest
from support.hook_receiver import Receiver
from support.outreach_requests import REQUESTS, newcomer, number, reach_out
from support.partner_side import Partner, Row, made
from support.rows_by_id import ISO

FOUR_DAYS = 97
FIELDS = {
    "event", "request_id", "partner_request_id", "clinic_id", "channel", "purpose", "status", "outcome",
    "outcome_detail", "suppression_reason", "error_message", "client_id", "patient_id", "contacted_at",
    "completed_at", "timestamp",
}  # fmt: skip


@pytest.fixture
def partner(partner: Partner) -> Partner:
    partner.platform.set(http_callbacks=True)
    return partner


@pytest.mark.parametrize(
    ("ending", "status", "outcome", "reason"),
    [
        ("39", "completed", "no_response", None),
        ("23", "completed", "booked", None),
        ("21", "suppressed", None, "client_inactive"),
        ("01", "failed", "undeliverable", None),
        ("26", "failed", None, None),
    ],
)
def test_a_request_has_one_webhook_with_its_end(
    partner: Partner, receiver: Receiver, ending: str, status: str, outcome: str | None, reason: str | None
) -> None:
    client = newcomer(partner, number(ending))
    people = {"client_id": client["id"], "patient_id": client["patients"][0]["id"]}
    more = {"partner_request_id": "p-1", "purpose": "refill", "callback_url": receiver.url}
    made(reach_out(partner, contact_number=number(ending), **people, **more))
    partner.later(hours=FOUR_DAYS)
    (body,) = receiver.bodies
    request = partner.page(f"{REQUESTS}/p-1")

    assert set(body) == FIELDS
    assert body.items() >= {name: request[name] for name in FIELDS & request.keys()}.items()
    assert body.items() >= people.items()
    assert (body["event"], body["status"]) == (f"ai_outbound.{status}", status)
    assert (body["outcome"], body["suppression_reason"]) == (outcome, reason)
    assert (body["request_id"], body["clinic_id"]) == (request["id"], "loc-001")
    assert (body["error_message"] is not None) == (status == "failed")
    assert all(ISO.fullmatch(body[name]) for name in ("completed_at", "timestamp"))
    assert body["outcome_detail"] == booked(partner)


def booked(partner: Partner) -> Row | None:
    """Return the newcomer's appointment as the webhook names it."""
    rows = partner.everything("appointments", start_date="2026-01-15T00:00:00Z")
    ids = [row["id"] for row in rows if row["remote_client_id"] == "77"]
    return {"appointment_id": ids[0]} if ids else None


def test_a_suppression_at_intake_is_confirmed_right_after(partner: Partner, receiver: Receiver) -> None:
    request = made(reach_out(partner, contact_number=number("00"), callback_url=receiver.url), 200)
    assert [body["request_id"] for body in receiver.bodies] == [request["id"]]
    assert receiver.events == ["ai_outbound.suppressed"]


def test_a_queued_webhook_is_sent_within_the_hour(partner: Partner, receiver: Receiver) -> None:
    """The clock starts at half past."""
    partner.platform.set(outreach_webhooks_stuck=True)
    reach_out(partner, contact_number=number("00"), callback_url=receiver.url)
    partner.later(minutes=15)
    assert receiver.got == []
    partner.later(minutes=45)
    assert receiver.events == ["ai_outbound.suppressed"]
    partner.later(hours=5)
    assert len(receiver.got) == 1
