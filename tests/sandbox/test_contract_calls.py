"""Contract: Phone call record; Get a phone call; List phone calls, CSV response. Booking session; its status."""

import csv
from datetime import datetime, tzinfo
from io import StringIO

import httpx
import pytest
from support.partner_side import Partner, Query, Row

BOOKED = {"appointment_booked", "appointment_rescheduled", "appointment_confirmed"}


@pytest.fixture
def calls(partner: Partner) -> list[Row]:
    records = partner.everything("phone_calls")
    assert records
    return records


def test_booked_and_booking_intent_follow_from_the_call(calls: list[Row]) -> None:
    """They do so for historical calls, too; other calls have an intent if a scheduling tool was used."""
    others: set[bool] = set()
    for call in calls:
        assert call["booked"] == (call["outcome"] in BOOKED)
        if call["booked"] or call["call_classification"] == "scheduling":
            assert call["booking_intent"]
        else:
            others.add(call["booking_intent"])
    assert others == {True, False}


def test_a_session_without_appointment_expires_without_its_updated_at_moving(partner: Partner) -> None:
    """The contract does not show the time: after two days at most, not within a minute."""
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    seen = []
    for minutes in (1, 2 * 24 * 60):
        partner.later(minutes=minutes)
        seen.append(partner.page(f"booking_sessions/{row}"))
    assert [session["status"] for session in seen] == ["active", "abandoned"]
    assert seen[0]["updated_at"] == seen[1]["updated_at"]


COLUMNS = [
    "Date", "Practice", "Direction", "Status", "Caller Type", "Client", "Patient", "Phone Number", "Intent",
    "Booking Intent", "Summary", "Sentiment", "Outcome", "Booked", "Duration",
]  # fmt: skip


def ask(partner: Partner, **query: Query) -> httpx.Response:
    answer = partner.get("phone_calls", format="csv", **query)
    assert answer.status_code == 200, answer.text
    return answer


def lines(answer: httpx.Response) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(answer.content.decode(), newline="")))


def humanized(value: str | None) -> str:
    return (value or "").replace("_", " ").capitalize()


def expected(call: Row, zone: tzinfo) -> dict[str, str]:
    """Return the line of a call."""
    created = datetime.fromisoformat(call["created_at"]).astimezone(zone)
    seconds = call["duration_seconds"]
    return {
        "Date": created.strftime("%Y-%m-%d %H:%M"),
        "Practice": call["practice_name"] or "",
        "Direction": call["direction"],
        "Status": call["state"],
        "Caller Type": call["caller_type"] or "",
        "Client": call["client_name"] or "",
        "Patient": call["patient_name"] or "",
        "Phone Number": call["phone_number"] or "",
        "Intent": humanized(call["call_classification"]),
        "Booking Intent": "Yes" if call["booking_intent"] else "No",
        "Summary": call["summary"] or "",
        "Sentiment": humanized(call["customer_sentiment"]),
        "Outcome": humanized(call["outcome"]),
        "Booked": "Yes" if call["booked"] else "No",
        "Duration": "" if seconds is None else f"{seconds // 60}:{seconds % 60:02}",
    }


def test_the_csv_has_the_same_rows_as_the_json(partner: Partner) -> None:
    """This includes a call that has just ended and one that goes on, awkward summaries, and equal lines."""
    live = {"direction": "inbound", "state": "in_progress"}
    ended = {"state": "completed", "outcome": "task_created", "duration_seconds": 61, "booked": False}
    for practice in partner.platform.practices[:3]:
        partner.act_for(practice.id)
        for call in (live, live | ended):
            partner.platform.insert(practice.id, "phone_calls", call)
        answer = ask(partner, per_page=5000, start_date="2025-12-01")
        assert answer.text.splitlines()[0] == ",".join(COLUMNS)
        read = lines(answer)
        calls = partner.everything("phone_calls", start_date="2025-12-01")
        assert read == [expected(call, practice.zone) for call in calls]
        assert len({tuple(line.values()) for line in read}) < len(read)
        for awkward in (",", '"', "\n", "\r\n"):
            assert any(awkward in line["Summary"] for line in read)


def test_pages_count_from_zero_and_totals_stand_in_the_headers(partner: Partner) -> None:
    whole = lines(ask(partner, per_page=300))
    pages = [ask(partner, per_page=100, page=page) for page in range(3)]
    assert whole == [line for page in pages for line in lines(page)]
    total = partner.page("phone_calls")["total_count"]
    assert total % 100, "a world in which this cannot be seen"
    names = ("X-Total-Count", "X-Page", "X-Per-Page", "X-Total-Pages")
    assert [int(pages[2].headers[name]) for name in names] == [total, 2, 100, -(-total // 100)]


def test_filters_hold_for_the_csv_too(partner: Partner) -> None:
    answer = ask(partner, direction="outbound", **{"outcome[]": ["no_answer", "voicemail"]})
    assert {line["Direction"] for line in lines(answer)} == {"outbound"}
    assert {line["Outcome"] for line in lines(answer)} == {"No answer", "Voicemail"}
