"""The whole CSV, compared with the truth, and the shapes that make a CSV hard to read."""

import csv
from datetime import datetime
from io import StringIO
from zoneinfo import ZoneInfo

import httpx
import pytest
from support.partner_side import Partner, Row


def lines(answer: httpx.Response) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(answer.content.decode(), newline="")))


def humanized(value: str | None) -> str:
    return (value or "").replace("_", " ").capitalize()


def expected(call: Row, zone: str) -> dict[str, str]:
    created = datetime.fromisoformat(call["created_at"]).astimezone(ZoneInfo(zone))
    seconds = call["duration_seconds"]
    return {
        "Date": created.strftime("%Y-%m-%d %H:%M"),
        "Practice": call["practice_name"],
        "Direction": call["direction"],
        "Status": call["state"],
        "Caller Type": call["caller_type"],
        "Client": call["client_name"] or "",
        "Patient": call["patient_name"] or "",
        "Phone Number": call["phone_number"],
        "Intent": humanized(call["call_classification"]),
        "Booking Intent": "Yes" if call["booking_intent"] else "No",
        "Summary": call["summary"] or "",
        "Sentiment": humanized(call["customer_sentiment"]),
        "Outcome": humanized(call["outcome"]),
        "Booked": "Yes" if call["booked"] else "No",
        "Duration": "" if seconds is None else f"{seconds // 60}:{seconds % 60:02}",
    }


@pytest.mark.parametrize("practice_id", ["loc-001", "loc-002", "loc-003"])
def test_the_csv_has_the_same_rows_as_the_json(partner: Partner, practice_id: str) -> None:
    partner.http.headers["X-Client-Id"] = partner.practice_id = practice_id
    practice = next(one for one in partner.platform.practices if one.id == practice_id)
    read = lines(partner.get("phone_calls", format="csv", per_page=5000))
    wanted = [expected(call, practice.time_zone) for call in partner.truth("phone_calls")]
    assert sorted(map(tuple, map(dict.values, read))) == sorted(map(tuple, map(dict.values, wanted)))


def test_an_empty_range_is_a_header_alone(partner: Partner) -> None:
    answer = partner.get("phone_calls", format="csv", start_date="2030-01-01")
    assert answer.headers["X-Total-Count"] == "0"
    assert lines(answer) == []


def test_summaries_hold_commas_quotes_and_line_breaks(partner: Partner) -> None:
    summaries = [line["Summary"] for line in lines(partner.get("phone_calls", format="csv", per_page=5000))]
    for awkward in (",", '"', "\n", "\r\n"):
        assert any(awkward in summary for summary in summaries)


def test_there_are_calls_with_equal_csv_rows(partner: Partner) -> None:
    read = [tuple(line.values()) for line in lines(partner.get("phone_calls", format="csv", per_page=5000))]
    assert len(set(read)) < len(read)


def test_a_live_call_has_no_outcome_yet(partner: Partner) -> None:
    live = partner.platform.insert("loc-001", "phone_calls", {"state": "in_progress", "direction": "inbound"})
    line = lines(partner.get("phone_calls", format="csv", state="in_progress"))[0]
    assert (line["Outcome"], line["Duration"], line["Booked"]) == ("", "", "No")
    assert live
