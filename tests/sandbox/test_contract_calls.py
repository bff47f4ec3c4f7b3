"""Contract: Phone call record; Get a phone call; List phone calls, CSV response. Booking session; its status."""

import csv
from datetime import datetime, tzinfo
from io import StringIO

import httpx
import pytest
from support.partner_side import Partner, Query, Row, by_id

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


def test_unknown_callers_were_never_matched_to_a_client(calls: list[Row]) -> None:
    assert all((call["client_id"] is None) == (call["caller_type"] == "unknown") for call in calls)


def test_a_new_client_has_had_no_visit_before_the_call(partner: Partner, calls: list[Row]) -> None:
    """The telephone number shows who has had a visit by now; the client's remote id is that of the visit."""
    visits = partner.everything("appointments", start_date="2025-01-01")
    kept = sorted((row["booking_date"], row["client_phone"]) for row in visits if row["status"] == "COMPLETED")
    first = {phone: at for at, phone in reversed(kept)}
    new = [call for call in calls if call["caller_type"] == "new"]
    assert new
    assert all(call["created_at"] <= first.get(call["phone_number"], call["created_at"]) for call in new)
    of_phone = {call["phone_number"]: call["remote_client_id"] for call in calls if call["client_id"]}
    shared = [row for row in visits if row["client_phone"] in of_phone]
    assert shared
    assert all(row["remote_client_id"] == of_phone[row["client_phone"]] for row in shared)


def test_a_call_names_its_client_and_patient(partner: Partner, calls: list[Row]) -> None:
    for call in [call for call in calls if call["client_id"]][:10]:
        client = partner.page(f"clients/{call['client_id']}")
        assert client["name"] == call["client_name"]
        pets = {patient["id"]: patient["name"] for patient in client["patients"]}
        assert pets.get(call["patient_id"]) == call["patient_name"]


@pytest.mark.parametrize("practice", ["loc-001", "loc-004"])
def test_a_call_names_its_practice_and_its_server(partner: Partner, practice: str) -> None:
    """The fourth practice has no server id."""
    partner.act_for(practice)
    here = next(one for one in partner.platform.practices if one.id == practice)
    named = [call for call in partner.everything("phone_calls") if call["client_id"]]
    assert {call["remote_client_id"].partition("-")[2] for call in named} == {here.server_id or ""}
    assert {call["practice_name"] for call in named} == {here.name}


ALL = {"start_date": "2025-01-01"}


def test_completed_means_a_booked_appointment(partner: Partner) -> None:
    visits = by_id(partner.everything("appointments", **ALL))
    for session in partner.everything("booking_sessions", **ALL):
        assert (session["status"] == "completed") == (session["appointment_id"] is not None)
        if session["appointment_id"]:
            visit = visits[session["appointment_id"]]
            assert visit["created_at"] >= session["created_at"]
            assert visit["referral_source"] == session["referral_source"]


def test_a_session_without_appointment_expires_without_its_updated_at_moving(partner: Partner) -> None:
    """The contract does not show the time: after two days at most, not within a minute."""
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started"})
    seen = []
    for minutes in (1, 2 * 24 * 60):
        partner.later(minutes=minutes)
        seen.append(partner.page(f"booking_sessions/{row}"))
    assert [session["status"] for session in seen] == ["active", "abandoned"]
    assert seen[0]["updated_at"] == seen[1]["updated_at"]


def test_a_session_with_an_appointment_does_not_expire(partner: Partner) -> None:
    visit = partner.everything("appointments", **ALL)[0]["id"]
    row = partner.platform.insert("loc-001", "booking_sessions", {"stage": "started", "appointment_id": visit})
    for hours in (0, 100):
        partner.later(hours=hours)
        assert partner.page(f"booking_sessions/{row}")["status"] == "completed"


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
        calls = partner.everything("phone_calls", start_date="2025-12-01")
        assert read == [expected(call, practice.zone) for call in calls]
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
    assert [int(pages[2].headers[name]) for name in names] == [total, 2, 100, -(-total // 100)]


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
