"""Contract: List phone calls, CSV response."""

import csv
import re
from collections.abc import Callable
from datetime import datetime
from io import StringIO

import httpx
from support.contract_breaks import GONE, Break, asks, headed, switched, texts, with_header
from support.partner_side import Partner, Query, Row
from support.rules import broken_as, broken_by, rule

CSV = "Endpoints / List phone calls, CSV"
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


def beside(partner: Partner) -> list[tuple[Row, dict[str, str]]]:
    """Return calls as JSON, and the lines of the CSV in the same places: both come in one order here."""
    calls = partner.everything("phone_calls", start_date="2025-12-20")
    table = lines(ask(partner, start_date="2025-12-20", per_page=5000))
    assert len(calls) == len(table) > 300
    return list(zip(calls, table, strict=True))


def cells(column: str, wrong: str | Callable[[str], str]) -> Break:
    """Show something else in a column of the CSV."""

    def change(text: str) -> str:
        page = StringIO(newline="")
        writer = csv.DictWriter(page, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for line in csv.DictReader(StringIO(text, newline="")):
            writer.writerow({**line, column: wrong(line[column]) if callable(wrong) else wrong})
        return page.getvalue()

    return texts("phone_calls", change)


@rule(CSV, says="format", query={"format": "csv"}, accept="*/*")
@rule(CSV, says="Accept", query={}, accept="text/csv")
@broken_as(lambda query: asks("phone_calls", format=GONE) if query else with_header("accept", "*/*"))
def test_csv_is_asked_for_in_two_ways(partner: Partner, query: dict[str, str], accept: str) -> None:
    partner.http.headers["Accept"] = accept
    answer = partner.get("phone_calls", **query)
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.text.startswith("Date,")


@rule(CSV)
@broken_by(with_header("accept", "text/csv"))
def test_json_is_the_default(partner: Partner) -> None:
    assert partner.get("phone_calls").headers["Content-Type"].startswith("application/json")


@rule(CSV, says="attachment")
@broken_by(headed(content_disposition="inline"))
def test_the_csv_is_an_attachment(partner: Partner) -> None:
    assert ask(partner).headers["Content-Disposition"].startswith("attachment")


@rule(CSV, says="columns in order; all columns")
@broken_by(texts("phone_calls", lambda text: text.replace("Date,Practice", "Practice,Date", 1)))
def test_the_columns_are_the_contracts_in_order(partner: Partner) -> None:
    assert ask(partner).text.splitlines()[0] == ",".join(COLUMNS)


@rule(CSV, says="the same rows")
@broken_by(cells("Summary", "Another call"))
def test_the_csv_has_the_same_rows_as_the_json(partner: Partner) -> None:
    from_json = [(call["summary"] or "", call["phone_number"]) for call, _ in beside(partner)]
    assert from_json == [(line["Summary"], line["Phone Number"]) for _, line in beside(partner)]


@rule(CSV, says="Practice", column="Practice", name="practice_name")
@rule(CSV, says="Direction", column="Direction", name="direction")
@rule(CSV, says="Status", column="Status", name="state")
@rule(CSV, says="Caller Type", column="Caller Type", name="caller_type")
@rule(CSV, says="Client", column="Client", name="client_name")
@rule(CSV, says="Patient", column="Patient", name="patient_name")
@rule(CSV, says="Number", column="Phone Number", name="phone_number")
@rule(CSV, says="Summary", column="Summary", name="summary")
@broken_as(lambda column: cells(column, "?"))
def test_a_column_holds_its_field(partner: Partner, column: str, name: str) -> None:
    assert all(line[column] == (call[name] or "") for call, line in beside(partner))


@rule(CSV, says="Intent", column="Intent", name="call_classification")
@rule(CSV, says="Sentiment", column="Sentiment", name="customer_sentiment")
@rule(CSV, says="Outcome", column="Outcome", name="outcome")
@broken_as(lambda column: cells(column, lambda text: text.replace(" ", "_")))
def test_a_label_is_humanized_and_maps_back(partner: Partner, column: str, name: str) -> None:
    """Lower case and underscores instead of spaces give the value of the JSON again."""
    labels = {line[column] for _, line in beside(partner)}
    assert any(" " in label or label[:1].isupper() for label in labels)
    assert not any("_" in label for label in labels)
    assert all(line[column].lower().replace(" ", "_") == (call[name] or "") for call, line in beside(partner))


@rule(CSV, says="Booked", column="Booked", name="booked")
@rule(CSV, says="Booking Intent", column="Booking Intent", name="booking_intent")
@broken_as(lambda column: cells(column, str.lower))
def test_booleans_are_yes_or_no(partner: Partner, column: str, name: str) -> None:
    assert all(line[column] == ("Yes" if call[name] else "No") for call, line in beside(partner))


@rule(CSV, says="Date")
@broken_by(cells("Date", lambda text: text[:10]))
def test_dates_are_minutes_of_the_practices_time_zone(partner: Partner) -> None:
    partner.act_for("loc-003")
    zone = partner.platform.practices[2].zone
    for call, line in beside(partner):
        created = datetime.fromisoformat(call["created_at"]).astimezone(zone)
        assert line["Date"] == created.strftime("%Y-%m-%d %H:%M")


@rule(CSV, says="Duration")
@broken_by(cells("Duration", lambda text: text.replace(":", ".")))
def test_durations_are_minutes_and_seconds(partner: Partner) -> None:
    for call, line in beside(partner):
        seconds = call["duration_seconds"]
        assert line["Duration"] == ("" if seconds is None else f"{seconds // 60}:{seconds % 60:02}")
        assert not line["Duration"] or re.fullmatch(r"\d+:[0-5]\d", line["Duration"])


@rule(CSV, says="X-Total-Count; X-Page; X-Per-Page; X-Total-Pages")
@broken_by(headed(x_total_count="0"), headed(x_page="0"), headed(x_per_page="0"), headed(x_total_pages="0"))
def test_totals_stand_in_the_headers(partner: Partner) -> None:
    headers = ask(partner, per_page=100, page=2).headers
    total = partner.page("phone_calls")["total_count"]
    assert total % 100, "a world in which this cannot be seen"
    names = ("X-Total-Count", "X-Page", "X-Per-Page", "X-Total-Pages")
    assert [headers.get(name) for name in names] == [str(number) for number in (total, 2, 100, -(-total // 100))]


@rule(CSV)
@broken_by(asks("phone_calls", page=lambda page: str(int(page) + 1)))
def test_pages_count_from_zero_too(partner: Partner) -> None:
    whole = lines(ask(partner, per_page=300))
    parts = [lines(ask(partner, per_page=100, page=page)) for page in range(3)]
    assert whole == [line for part in parts for line in part]


@rule("Limits", says="CSV: 1000 rows by default")
@broken_by(headed(x_per_page="500"))
def test_a_page_of_csv_holds_a_thousand_rows_by_default(partner: Partner) -> None:
    answer = ask(partner)
    assert answer.headers["X-Per-Page"] == "1000"
    assert len(lines(answer)) == 1000


@rule("Limits", says="CSV: 5000 rows at most")
@broken_by(switched(csv_maximum_size=4000), switched(csv_maximum_size=9000))
def test_a_page_of_csv_holds_five_thousand_rows_at_most(partner: Partner) -> None:
    """The contract does not show whether a larger size is made smaller or refused."""
    assert ask(partner, per_page=5000).headers["X-Per-Page"] == "5000"
    larger = partner.get("phone_calls", format="csv", per_page=5001)
    assert larger.status_code == 400 or larger.headers["X-Per-Page"] == "5000"


@rule(CSV, says="filters")
@broken_by(asks("phone_calls", direction=GONE))
def test_filters_hold_for_the_csv_too(partner: Partner) -> None:
    answer = ask(partner, direction="outbound", **{"outcome[]": ["no_answer", "voicemail"]})
    assert {line["Direction"] for line in lines(answer)} == {"outbound"}
    assert {line["Outcome"] for line in lines(answer)} == {"No answer", "Voicemail"}


@rule(CSV, says="a live call")
@broken_by(cells("Outcome", str.lower))
def test_a_call_that_has_just_arrived_is_the_same_in_both_forms(partner: Partner) -> None:
    call = {"direction": "inbound", "state": "completed", "outcome": "task_created", "duration_seconds": 61}
    partner.platform.insert("loc-001", "phone_calls", call)
    line = lines(ask(partner))[0]
    assert (line["Outcome"], line["Duration"], line["Booked"]) == ("Task created", "1:01", "No")
