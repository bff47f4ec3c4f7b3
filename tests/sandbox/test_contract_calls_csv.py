"""Contract: List phone calls, CSV response."""

import csv
import re
from datetime import datetime
from io import StringIO

import httpx
from support.breaking import Break, edited, replaced
from support.partner_side import Partner, Query, Row
from support.rules import rule

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
    """Calls as JSON, and the lines of the CSV on the same places: both come in one order here."""
    calls = partner.everything("phone_calls", start_date="2025-12-20")
    table = lines(ask(partner, start_date="2025-12-20", per_page=5000))
    assert len(calls) == len(table) > 300
    return list(zip(calls, table, strict=True))


def field(column: str, name: str, wrong: str) -> Break:
    """A column with another field of the call in it."""
    assert column in COLUMNS
    fields = f"[{wrong!r} if known == {name!r} else known for known in _FIELDS]"
    return edited("server.calls_csv:_drawn_lines", "zip(_FIELDS,", f"zip({fields},")


@rule(
    CSV,
    edited("server.phone_calls:_wants_csv", '== "csv"', '== "?"'),
    says="format",
    query={"format": "csv"},
    accept="*/*",
)
@rule(
    CSV,
    edited("server.phone_calls:_wants_csv", '"text/csv" in', '"?" in'),
    says="Accept",
    query={},
    accept="text/csv",
)
def test_csv_is_asked_for_in_two_ways(partner: Partner, query: dict[str, str], accept: str) -> None:
    partner.http.headers["Accept"] = accept
    answer = partner.get("phone_calls", **query)
    assert answer.headers["Content-Type"].startswith("text/csv")
    assert answer.text.startswith("Date,")


@rule(CSV, edited("server.phone_calls:_wants_csv", 'or "text/csv" in', 'or "" in'))
def test_json_is_the_default(partner: Partner) -> None:
    assert partner.get("phone_calls").headers["Content-Type"].startswith("application/json")


@rule(CSV, edited("server.phone_calls:_csv_headers", "attachment; ", "inline; "), says="attachment")
def test_the_csv_is_an_attachment(partner: Partner) -> None:
    assert ask(partner).headers["Content-Disposition"].startswith("attachment")


@rule(
    CSV,
    edited("server.calls_csv:render_csv", "lines.select(COLUMNS)", "lines.select(COLUMNS[::-1])"),
    says="columns in order",
)
@rule(
    CSV,
    edited("server.calls_csv:render_csv", "lines.select(COLUMNS)", "lines.select(COLUMNS[:-1])"),
    says="all columns",
)
def test_the_columns_are_the_contracts_in_order(partner: Partner) -> None:
    assert ask(partner).text.splitlines()[0] == ",".join(COLUMNS)


@rule(
    CSV,
    edited("server.phone_calls:_page", "paging.cut(rows)", "paging.cut(rows).head(100)"),
    edited("server.calls_csv:_drawn_lines", "shown.select(", "shown.reverse().select("),
    says="the same rows",
)
def test_the_csv_has_the_same_rows_as_the_json(partner: Partner) -> None:
    told = [(call["summary"] or "", call["phone_number"]) for call, _ in beside(partner)]
    assert told == [(line["Summary"], line["Phone Number"]) for _, line in beside(partner)]


@rule(
    CSV,
    field("Practice", "practice_name", "phone_number"),
    column="Practice",
    name="practice_name",
    says="Practice",
)
@rule(CSV, field("Direction", "direction", "state"), column="Direction", name="direction", says="Direction")
@rule(CSV, field("Status", "state", "caller_type"), column="Status", name="state", says="Status")
@rule(
    CSV, field("Caller Type", "caller_type", "state"), column="Caller Type", name="caller_type", says="Caller Type"
)
@rule(CSV, field("Client", "client_name", "patient_name"), column="Client", name="client_name", says="Client")
@rule(CSV, field("Patient", "patient_name", "client_name"), column="Patient", name="patient_name", says="Patient")
@rule(
    CSV,
    field("Phone Number", "phone_number", "summary"),
    column="Phone Number",
    name="phone_number",
    says="Number",
)
@rule(CSV, field("Summary", "summary", "client_name"), column="Summary", name="summary", says="Summary")
def test_a_column_holds_its_field(partner: Partner, column: str, name: str) -> None:
    assert all(line[column] == (call[name] or "") for call, line in beside(partner))


def never_humanized(name: str) -> Break:
    rest = f"tuple(known for known in _ALWAYS_HUMANIZED if known != {name!r})"
    return edited("server.calls_csv:_humanized", "(*_ALWAYS_HUMANIZED, *by_switch)", rest)


@rule(CSV, never_humanized("call_classification"), column="Intent", name="call_classification", says="Intent")
@rule(CSV, never_humanized("customer_sentiment"), column="Sentiment", name="customer_sentiment", says="Sentiment")
@rule(CSV, never_humanized("outcome"), column="Outcome", name="outcome", says="Outcome")
def test_a_label_is_humanized_and_maps_back(partner: Partner, column: str, name: str) -> None:
    """Lower case and underscores for spaces give the value of the JSON again."""
    labels = {line[column] for _, line in beside(partner)}
    assert any(" " in label or label[:1].isupper() for label in labels)
    assert not any("_" in label for label in labels)
    assert all(line[column].lower().replace(" ", "_") == (call[name] or "") for call, line in beside(partner))


@rule(CSV, field("Booked", "booked", "booking_intent"), column="Booked", name="booked", says="Booked")
@rule(
    CSV,
    edited("server.calls_csv:_yes_or_no", '"Yes"', '"true"'),
    edited("server.calls_csv:_yes_or_no", '"No"', '""'),
    column="Booking Intent",
    name="booking_intent",
    says="Booking Intent",
)
def test_booleans_are_yes_or_no(partner: Partner, column: str, name: str) -> None:
    assert all(line[column] == ("Yes" if call[name] else "No") for call, line in beside(partner))


@rule(
    CSV,
    replaced("server.calls_csv:_MINUTE", "%Y-%m-%d %H:%M:%S"),
    replaced("server.calls_csv:_MINUTE", "%m/%d/%Y %H:%M"),
    edited("server.calls_csv:_drawn_lines", "scene.practice.time_zone", '"UTC"'),
    says="Date",
)
def test_dates_are_minutes_of_the_practices_time_zone(partner: Partner) -> None:
    partner.act_for("loc-003")
    zone = partner.platform.practices[2].zone
    for call, line in beside(partner):
        created = datetime.fromisoformat(call["created_at"]).astimezone(zone)
        assert line["Date"] == created.strftime("%Y-%m-%d %H:%M")


@rule(
    CSV,
    edited("server.calls_csv:_drawn_lines", ".str.zfill(2)", ""),
    edited("server.calls_csv:_drawn_lines", "seconds // 60,", "seconds // 60 % 10,"),
    edited("server.calls_csv:_drawn_lines", '"{}:{}"', '"0{}:{}"'),
    says="Duration",
)
def test_durations_are_minutes_and_seconds(partner: Partner) -> None:
    for call, line in beside(partner):
        seconds = call["duration_seconds"]
        assert line["Duration"] == ("" if seconds is None else f"{seconds // 60}:{seconds % 60:02}")
        assert not line["Duration"] or re.fullmatch(r"\d+:[0-5]\d", line["Duration"])


HEADERS = "server.phone_calls:_csv_headers"


@rule(
    CSV, edited(HEADERS, '"X-Total-Count": str(total)', '"X-Total-Count": str(paging.size)'), says="X-Total-Count"
)
@rule(CSV, edited(HEADERS, '"X-Page": str(paging.number)', '"X-Page": str(paging.number + 1)'), says="X-Page")
@rule(CSV, edited(HEADERS, '"X-Per-Page": str(paging.size)', '"X-Per-Page": str(total)'), says="X-Per-Page")
@rule(CSV, edited(HEADERS, "paging.pages(total)", "total // paging.size"), says="X-Total-Pages")
def test_totals_stand_in_the_headers(partner: Partner) -> None:
    headers = ask(partner, per_page=100, page=2).headers
    total = partner.page("phone_calls")["total_count"]
    assert total % 100, "a world in which this cannot be seen"
    names = ("X-Total-Count", "X-Page", "X-Per-Page", "X-Total-Pages")
    assert [headers.get(name) for name in names] == [str(told) for told in (total, 2, 100, -(-total // 100))]


@rule(
    CSV,
    edited(
        "server.lists:Paging.cut", "(self.number - self.base)", "(self.number - self.base - (self.size < 300))"
    ),
)
def test_pages_count_from_zero_too(partner: Partner) -> None:
    whole = lines(ask(partner, per_page=300))
    parts = [lines(ask(partner, per_page=100, page=page)) for page in range(3)]
    assert whole == [line for part in parts for line in part]


@rule("Limits", replaced("server.phone_calls:CSV_DEFAULT_SIZE", 500), says="CSV: 1000 rows by default")
def test_a_page_of_csv_holds_a_thousand_rows_by_default(partner: Partner) -> None:
    answer = ask(partner)
    assert answer.headers["X-Per-Page"] == "1000"
    assert len(lines(answer)) == 1000


@rule(
    "Limits",
    replaced("server.phone_calls:CSV_MAXIMUM_SIZE", 4000),
    replaced("server.phone_calls:CSV_MAXIMUM_SIZE", 9000),
    says="CSV: 5000 rows at most",
)
def test_a_page_of_csv_holds_five_thousand_rows_at_most(partner: Partner) -> None:
    """Whether a larger one is made smaller or refused is not shown."""
    assert ask(partner, per_page=5000).headers["X-Per-Page"] == "5000"
    larger = partner.get("phone_calls", format="csv", per_page=5001)
    assert larger.status_code == 400 or larger.headers["X-Per-Page"] == "5000"


@rule(
    CSV,
    edited("server.phone_calls:_chosen", "chosen &= pl.col(name) == value", "pass"),
    edited("server.phone_calls:_chosen", "if outcomes:", "if False:"),
    says="filters",
)
def test_filters_hold_for_the_csv_too(partner: Partner) -> None:
    answer = ask(partner, direction="outbound", **{"outcome[]": ["no_answer", "voicemail"]})
    assert {line["Direction"] for line in lines(answer)} == {"outbound"}
    assert {line["Outcome"] for line in lines(answer)} == {"No answer", "Voicemail"}


@rule(CSV, edited("server.calls_csv:humanize", "value.replace", "'Call ' + value.replace"), says="a live call")
def test_a_call_that_came_in_just_now_is_told_alike(partner: Partner) -> None:
    call = {"direction": "inbound", "state": "completed", "outcome": "task_created", "duration_seconds": 61}
    partner.platform.insert("loc-001", "phone_calls", call)
    line = lines(ask(partner))[0]
    assert (line["Outcome"], line["Duration"], line["Booked"]) == ("Task created", "1:01", "No")
