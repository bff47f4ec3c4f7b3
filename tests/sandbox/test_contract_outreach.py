"""Contract: AI outbound request: creating, listing and getting them; their states, from intake to the sweeper."""

from datetime import datetime, timedelta

import pytest
from support.contract_values import VALUES
from support.partner_requests import REQUESTS, newcomer, number, reach_out
from support.partner_side import Partner, made

OPEN = {"received", "queued", "in_progress"}
ENDS: dict[str, set[str | None]] = {
    "completed": {"booked", "opted_out", "no_response"},
    "failed": {"undeliverable", None},
}
REASONS = set(VALUES["ai_outbound"]["suppression_reason"].split())


def test_the_fields_of_an_end_go_with_its_status(partner: Partner) -> None:
    """New reasons of a suppression may appear; the sandbox has none."""
    requests = partner.everything(REQUESTS)
    assert {row["status"] for row in requests} >= {"completed", "failed", "suppressed"}
    for row in requests:
        status, ended_at = row["status"], row["completed_at"]
        assert row["outcome"] in ENDS.get(status, {None})
        assert (row["suppression_reason"] in REASONS) == (status == "suppressed")
        assert (row["error_message"] is not None) == (status == "failed")
        assert (ended_at is not None) == (status in {*ENDS, "suppressed"})
        assert ended_at is None or ended_at >= row["created_at"]


def test_a_request_is_as_it_was_asked_for_and_has_two_ids(partner: Partner) -> None:
    """The contacted number identifies the client, too. The partner's id is an idempotency key in one practice."""
    client = newcomer(partner, "+12125550188")
    given = {
        "partner_request_id": "p-1",
        "purpose": "callback_followup",
        "context": "Overdue",
        "channel": "voice",
        "contact_number": "+12125550188",
        "patient_id": client["patients"][0]["id"],
    }
    first = made(reach_out(partner, **given))
    assert first.items() >= {**given, "client_id": client["id"]}.items()
    assert made(reach_out(partner, partner_request_id="p-1"))["id"] == first["id"]
    assert first in partner.everything(REQUESTS)
    historical = next(row for row in partner.everything(REQUESTS)[::-1] if row["partner_request_id"])
    for request in (first, historical):
        for either in (request["id"], request["partner_request_id"]):
            assert partner.page(f"{REQUESTS}/{either}") == request
    partner.act_for("loc-002")
    assert partner.get(f"{REQUESTS}/p-1").status_code == 404
    assert made(reach_out(partner, partner_request_id="p-1"), 201)["id"] != first["id"]


def test_an_open_request_comes_by_the_non_terminal_statuses(partner: Partner) -> None:
    """It has been contacted at the last of them."""
    seen = [made(reach_out(partner), 201)]
    for minutes in (1, 30):
        partner.later(minutes=minutes)
        seen.append(partner.page(f"{REQUESTS}/{seen[0]['id']}"))
    assert {request["status"] for request in seen} == OPEN
    assert seen[0]["contacted_at"] is None
    assert seen[-1]["contacted_at"] >= seen[0]["created_at"]


FINAL: dict[str, tuple[str, float, tuple[str | None, ...], tuple[str, int] | None]] = {
    "inactive": ("21", 1, ("suppressed", None, "client_inactive"), None),
    "pet deceased": ("24", 3, ("suppressed", None, "pet_deceased"), None),
    "stopped": ("25", 3, ("suppressed", None, "stopped"), None),
    "opted out": ("22", 3, ("completed", "opted_out", None), None),
    "undeliverable": ("01", 3, ("failed", "undeliverable", None), None),
    "48 hours of silence": ("39", 60, ("completed", "no_response", None), ("contacted_at", 48)),
    "silence from a reply on": ("27", 70, ("completed", "no_response", None), ("contacted_at", 49)),
    "the sweeper, 96 hours after creation": ("26", 96.1, ("failed", None, None), ("created_at", 96)),
}
"""The last digits of the number, when the request has ended, how, and how long after what."""


@pytest.mark.parametrize("name", FINAL)
def test_a_request_ends_for_good(partner: Partner, name: str) -> None:
    """A client who is inactive by then, or a request that never got out, was not contacted."""
    ending, hours, end, waits = FINAL[name]
    request = made(reach_out(partner, contact_number=number(ending)), 201)
    partner.later(hours=hours)
    request = partner.page(f"{REQUESTS}/{request['id']}")
    assert (request["status"], request["outcome"], request["suppression_reason"]) == end
    assert (request["contacted_at"] is None) == (ending in ("21", "26"))
    assert (request["error_message"] is not None) == (request["status"] == "failed")
    if waits is not None:
        since, waited = waits
        ended_at, began_at = (datetime.fromisoformat(request[at]) for at in ("completed_at", since))
        assert ended_at - began_at == timedelta(hours=waited)
    partner.later(hours=60)
    assert partner.page(f"{REQUESTS}/{request['id']}") == request
