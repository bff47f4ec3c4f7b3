"""The world's own AI outbound requests keep the rules of the contract too."""

from datetime import datetime, timedelta

from support.contract_values import VALUES
from support.partner_side import Partner, Row

OPEN = {"received", "queued", "in_progress"}
REASONS = set(VALUES["ai_outbound"]["suppression_reason"].split())


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def every_request(partner: Partner) -> list[Row]:
    """Return the requests of all practices, to find rare cases."""
    return [
        row
        for practice in partner.platform.practices
        for row in partner.platform.truth(practice.id, "ai_outbound")
    ]


def test_requests_end_by_silence_or_the_sweeper(partner: Partner) -> None:
    requests = every_request(partner)
    silent = [row for row in requests if row["outcome"] == "no_response"]
    waited = [instant(row["completed_at"]) - instant(row["contacted_at"]) for row in silent]
    assert min(waited) == timedelta(hours=48)
    assert max(waited) < timedelta(hours=96)
    swept = [row for row in requests if row["status"] == "failed" and row["outcome"] is None]
    assert {instant(row["completed_at"]) - instant(row["created_at"]) for row in swept} == {timedelta(hours=96)}
    assert {row["contacted_at"] for row in swept} == {None}
    oldest = min(instant(row["created_at"]) for row in requests if row["status"] in OPEN)
    assert partner.platform.now() - oldest <= timedelta(hours=96)


def test_every_reason_of_the_contract_occurs_if_it_may(partner: Partner) -> None:
    requests = every_request(partner)
    reasons = {(row["suppression_reason"], row["channel"], row["purpose"]) for row in requests}
    assert {reason for reason, *_ in reasons} - {None} == REASONS
    assert {reason for reason, channel, _ in reasons if channel == "voice"} == {"voice_not_supported"}
    upcoming = {purpose for reason, _, purpose in reasons if reason == "recent_or_upcoming_appointment"}
    assert upcoming == {"scheduling"}


def test_texts_go_out_between_eight_and_nine_in_the_evening(partner: Partner) -> None:
    for practice in partner.platform.practices:
        for row in partner.platform.truth(practice.id, "ai_outbound"):
            if row["contacted_at"]:
                assert 8 <= instant(row["contacted_at"]).astimezone(practice.zone).hour < 21
