"""Contract: List phone calls, CSV response."""

import csv
from datetime import datetime, tzinfo
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


def cells(column: str, wrong: str) -> Break:
    """Show something else in a column of the CSV."""

    def change(text: str) -> str:
        page = StringIO(newline="")
        writer = csv.DictWriter(page, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for line in csv.DictReader(StringIO(text, newline="")):
            writer.writerow({**line, column: wrong})
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


@rule(CSV, says="columns in order; the same rows")
@broken_by(
    texts("phone_calls", lambda text: text.replace("Date,Practice", "Practice,Date", 1)),
    *(cells(column, "?") for column in COLUMNS),
)
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


@rule(CSV, says="no calls")
@broken_by(headed(x_total_count="1"))
def test_an_empty_range_is_a_header_alone(partner: Partner) -> None:
    answer = ask(partner, start_date="2030-01-01")
    assert answer.headers["X-Total-Count"] == "0"
    assert answer.text.splitlines() == [",".join(COLUMNS)]


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
