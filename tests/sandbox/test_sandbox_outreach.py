"""Contract: AI outbound request; its states and transitions."""

from datetime import datetime, timedelta

import pytest
from support.partner_side import Partner, Row

OPEN = {"received", "queued", "in_progress"}
REASONS = {
    "recent_contact", "active_conversation", "sms_opted_out", "voice_not_supported", "notifications_disabled",
    "client_inactive", "recent_or_upcoming_appointment", "pet_deceased", "stopped",
}  # fmt: skip


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def every_request(partner: Partner) -> list[Row]:
    """The requests of all practices, for what is rare."""
    return [
        row
        for practice in partner.platform.practices
        for row in partner.platform.truth(practice.id, "ai_outbound")
    ]


def test_a_record_has_the_contracts_fields_and_no_others(partner: Partner) -> None:
    assert set(partner.page("ai_outbound/requests")["content"][0]) == {
        "id", "partner_request_id", "channel", "purpose", "status", "outcome", "suppression_reason",
        "error_message", "client_id", "patient_id", "contact_number", "context", "contacted_at", "completed_at",
        "created_at",
    }  # fmt: skip


def test_the_list_is_paged(partner: Partner) -> None:
    page = partner.page("ai_outbound/requests")
    assert list(page) == ["page", "per_page", "total_pages", "total_count", "content"]


def test_most_recent_come_first(partner: Partner) -> None:
    created = [row["created_at"] for row in partner.everything("ai_outbound/requests")]
    assert created == sorted(created, reverse=True)


@pytest.mark.parametrize("status", ["received", "queued", "in_progress", "completed", "suppressed", "failed"])
def test_the_status_filter_lets_through_its_status(partner: Partner, status: str) -> None:
    read = partner.everything("ai_outbound/requests", status=status)
    wanted = [row for row in partner.truth("ai_outbound") if row["status"] == status]
    assert {row["id"] for row in read} == {row["id"] for row in wanted}


def test_a_request_is_got_by_its_id_or_by_the_partners(partner: Partner) -> None:
    request = next(row for row in partner.truth("ai_outbound") if row["partner_request_id"])
    assert partner.page(f"ai_outbound/requests/{request['id']}") == request
    assert partner.page(f"ai_outbound/requests/{request['partner_request_id']}") == request


def test_terminal_requests_have_an_end_and_open_ones_none(partner: Partner) -> None:
    for row in every_request(partner):
        assert (row["completed_at"] is None) == (row["status"] in OPEN)


def test_outcomes_go_with_their_statuses(partner: Partner) -> None:
    allowed: dict[str, set[str | None]] = {
        "completed": {"booked", "opted_out", "no_response"},
        "failed": {"undeliverable", None},
        "suppressed": {None},
    }
    for row in every_request(partner):
        assert row["outcome"] in allowed.get(row["status"], {None})
        assert (row["suppression_reason"] is not None) == (row["status"] == "suppressed")
        assert (row["error_message"] is not None) == (row["status"] == "failed")


def test_silence_ends_after_48_hours(partner: Partner) -> None:
    silent = [row for row in every_request(partner) if row["outcome"] == "no_response"]
    waited = [instant(row["completed_at"]) - instant(row["contacted_at"]) for row in silent]
    assert min(waited) == timedelta(hours=48)
    assert max(waited) < timedelta(hours=96)


def test_the_sweeper_comes_after_96_hours(partner: Partner) -> None:
    swept = [row for row in every_request(partner) if row["status"] == "failed" and row["outcome"] is None]
    assert swept
    for row in swept:
        assert instant(row["completed_at"]) - instant(row["created_at"]) == timedelta(hours=96)
        assert row["contacted_at"] is None


def test_nothing_is_open_for_longer_than_96_hours(partner: Partner) -> None:
    oldest = min(instant(row["created_at"]) for row in every_request(partner) if row["status"] in OPEN)
    assert partner.platform.now() - oldest <= timedelta(hours=96)


def test_every_reason_of_the_contract_occurs(partner: Partner) -> None:
    assert {row["suppression_reason"] for row in every_request(partner)} - {None} == REASONS


def test_voice_is_suppressed_because_it_is_not_supported(partner: Partner) -> None:
    voice = [row for row in every_request(partner) if row["channel"] == "voice"]
    assert {row["suppression_reason"] for row in voice} == {"voice_not_supported"}


def test_an_upcoming_appointment_only_stops_scheduling(partner: Partner) -> None:
    stopped = [r for r in every_request(partner) if r["suppression_reason"] == "recent_or_upcoming_appointment"]
    assert {row["purpose"] for row in stopped} == {"scheduling"}


def test_texts_go_out_between_eight_and_nine_in_the_evening(partner: Partner) -> None:
    for practice in partner.platform.practices:
        for row in partner.platform.truth(practice.id, "ai_outbound"):
            if row["contacted_at"]:
                assert 8 <= instant(row["contacted_at"]).astimezone(practice.zone).hour < 21


def test_requests_go_from_received_to_their_end(partner: Partner) -> None:
    """A request that is created while one looks passes through the states in order."""
    order = ["received", "queued", "in_progress", "completed", "suppressed", "failed"]
    seen: dict[str, Row] = {}
    for _ in range(60):
        partner.platform.advance(timedelta(hours=2))
        for row in partner.truth("ai_outbound"):
            before = seen.get(row["id"], row)
            assert order.index(before["status"]) <= order.index(row["status"])
            seen[row["id"]] = row
