"""The world's own AI outbound requests keep the rules of the contract too."""

from datetime import datetime, timedelta

from support.partner_side import Partner, Row

OPEN = {"received", "queued", "in_progress"}
REASONS = {
    "recent_contact", "active_conversation", "sms_opted_out", "voice_not_supported", "notifications_disabled",
    "client_inactive", "recent_or_upcoming_appointment", "pet_deceased", "stopped",
}  # fmt: skip


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def every_request(partner: Partner) -> list[Row]:
    """Return the requests of all practices, to find rare cases."""
    return [
        row
        for practice in partner.platform.practices
        for row in partner.platform.truth(practice.id, "ai_outbound")
    ]


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
    """A request that is created during the observation passes through the states in order."""
    order = ["received", "queued", "in_progress", "completed", "suppressed", "failed"]
    seen: dict[str, Row] = {}
    for _ in range(60):
        partner.platform.advance(timedelta(hours=2))
        for row in partner.truth("ai_outbound"):
            before = seen.get(row["id"], row)
            assert order.index(before["status"]) <= order.index(row["status"])
            seen[row["id"]] = row
