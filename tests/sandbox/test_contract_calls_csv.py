"""Contract: List phone calls, CSV response."""

import csv
from datetime import datetime, tzinfo
from io import StringIO

import httpx
import pytest
from support.partner_side import Partner, Query, Row

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


@pytest.mark.parametrize(("query", "accept"), [({"format": "csv"}, "*/*"), ({}, "text/csv")])
def test_csv_is_asked_for_in_two_ways(partner: Partner, query: dict[str, str], accept: str) -> None:
    partner.http.headers["Accept"] = accept
    answer = partner.get("phone_calls", **query)
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.text.startswith("Date,")


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
        assert read == [
            expected(call, practice.zone) for call in partner.everything("phone_calls", start_date="2025-12-01")
        ]
        assert len({tuple(line.values()) for line in read}) < len(read)
        for awkward in (",", '"', "\n", "\r\n"):
            assert any(awkward in line["Summary"] for line in read)


def test_an_empty_range_is_a_header_alone(partner: Partner) -> None:
    answer = ask(partner, start_date="2030-01-01")
    assert answer.headers["X-Total-Count"] == "0"
    assert answer.text.splitlines() == [",".join(COLUMNS)]


def test_pages_count_from_zero_and_totals_stand_in_the_headers(partner: Partner) -> None:
    whole = lines(ask(partner, per_page=300))
    pages = [ask(partner, per_page=100, page=page) for page in range(3)]
    assert whole == [line for page in pages for line in lines(page)]
    total = partner.page("phone_calls")["total_count"]
    assert total % 100, "a world in which this cannot be seen"
    names = ("X-Total-Count", "X-Page", "X-Per-Page", "X-Total-Pages")
    assert [pages[2].headers[name] for name in names] == [
        str(number) for number in (total, 2, 100, -(-total // 100))
    ]


def test_a_page_has_a_thousand_rows_by_default_and_five_thousand_at_most(partner: Partner) -> None:
    """Contract: Limits. It does not show whether a larger size is made smaller or refused."""
    usual = ask(partner)
    assert (usual.headers["X-Per-Page"], len(lines(usual))) == ("1000", 1000)
    assert ask(partner, per_page=5000).headers["X-Per-Page"] == "5000"
    larger = partner.get("phone_calls", format="csv", per_page=5001)
    assert larger.status_code == 400 or larger.headers["X-Per-Page"] == "5000"


def test_filters_hold_for_the_csv_too(partner: Partner) -> None:
    answer = ask(partner, direction="outbound", **{"outcome[]": ["no_answer", "voicemail"]})
    assert {line["Direction"] for line in lines(answer)} == {"outbound"}
    assert {line["Outcome"] for line in lines(answer)} == {"No answer", "Voicemail"}
