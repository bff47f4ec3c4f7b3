"""Pages of the CSV, read whole or refused, and their texts as values: labels, minutes, Yes/No and m:ss.

Local minutes become instants, also if they exist twice or not at all in the zone.
"""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given, strategies as st
from support.warehouse_with_rows import HEADER, call_line, call_record, csv_answer, csv_page
from vetl.core.errors import ContractBroken, TornAnswer
from vetl.partner.calls_csv import COLUMNS, Cell
from vetl.partner.models import CALL_OUTCOMES
from vetl.store.instants import add_called_at, folds
from vetl.store.phone_calls.csv_frames import HEADERS, CallTexts, parse_calls, split
from vetl.store.phone_calls.json_calls import CallValues, read_values


def values_of(*lines: str) -> CallValues:
    (page,) = read_values([csv_page(*lines)])
    return page


def test_a_line_becomes_the_values_that_the_json_shows() -> None:
    calls = values_of(call_line())
    (row,) = calls.frame.rows(named=True)
    record = call_record("a")

    assert calls.bad == ()
    assert row["called_at_local"] == datetime(2025, 5, 1, 10)  # noqa: DTZ001 - a local minute has no zone
    for column in COLUMNS[1:]:
        assert row[column.raw] == record[column.json]


@pytest.mark.parametrize("value", CALL_OUTCOMES.values)
@pytest.mark.parametrize("shown", [str.capitalize, str.title, str.upper, str])
def test_labels_map_back_however_they_are_humanised(value: str, shown: type[str]) -> None:
    calls = values_of(call_line(outcome=shown(value.replace("_", " ")), state=value))

    assert calls.frame.select("outcome", "state").rows() == [(value, value)]


def test_empty_cells_are_null() -> None:
    empty = {column.raw: '""' if number % 2 else "" for number, column in enumerate(COLUMNS) if number}
    (row,) = values_of(call_line(**empty)).frame.select(list(empty)).rows()

    assert set(row) == {None}


@pytest.mark.parametrize("null", ["-", "N/A", "null"])
def test_a_word_for_null_is_null_except_in_text(null: str) -> None:
    cells = {column.raw: null for column in COLUMNS[1:]}
    (row,) = values_of(call_line(**cells)).frame.select(list(cells)).rows(named=True)

    assert {name for name, value in row.items() if value == null} == {
        column.raw for column in COLUMNS if column.cell is Cell.TEXT
    }
    assert set(row.values()) == {null, None}


@pytest.mark.parametrize(
    ("cells", "column"),
    [
        ({"minute": "01/05/2025 10:00"}, "Date"),
        ({"minute": ""}, "Date"),
        ({"minute": "2025-05-01"}, "Date"),
        ({"booked": "Maybe"}, "Booked"),
        ({"booking_intent": "1"}, "Booking Intent"),
        ({"duration_seconds": "65"}, "Duration"),
        ({"duration_seconds": "1:5"}, "Duration"),
        ({"duration_seconds": "1:75"}, "Duration"),
        ({"duration_seconds": "99999999999:00"}, "Duration"),
    ],
)
def test_a_text_that_is_no_value_sets_its_row_aside_and_is_never_null(cells: dict[str, str], column: str) -> None:
    calls = values_of(call_line(), call_line(**cells), call_line())

    assert calls.frame.height == 2
    (bad,) = calls.bad
    assert bad.reason == f"{column}: not as the contract writes it"
    assert "Jane Doe" in bad.payload


Cells = list[str]


def written(rows: list[Cells], order: Cells, **style: Any) -> bytes:
    text = io.StringIO()
    out = csv.writer(text, **style)
    out.writerow(order)
    out.writerows([row[HEADERS.index(name)] if name in HEADERS else "more" for name in order] for row in rows)
    return text.getvalue().encode()


def texts(page: CallTexts) -> list[Cells]:
    """Return the rows as text. Null and empty text are the same here, as in the CSV."""
    return [[cell or "" for cell in row] for row in page.frame.select(HEADERS).rows()]


characters = st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from([",", '"', "\n", "\r\n", " ", "é"])
cell = st.lists(characters, max_size=6).map("".join)
row = st.lists(cell, min_size=len(HEADERS), max_size=len(HEADERS)).map(
    lambda cells: ["2025-05-01 10:00", *cells[1:]]
)


@given(
    rows=st.lists(row, max_size=6),
    order=st.permutations([*HEADERS, "Recording"]) | st.just(list(HEADERS)),
    newline=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    last_newline=st.booleans(),
)
def test_any_way_of_writing_gives_the_same_rows(
    rows: list[Cells], order: Cells, newline: str, quoting: Any, mark: bytes, *, last_newline: bool
) -> None:
    body = written(rows, order, lineterminator=newline, quoting=quoting)
    body = mark + (body if last_newline else body.removesuffix(newline.encode()))

    page = split(body)

    assert page.bad == ()
    assert texts(page) == rows
    assert page.new_fields == ({"Recording"} if "Recording" in order else set())


@pytest.mark.parametrize(
    ("number", "summary", "shown"),
    [
        ("'+15550100", "'=SUM(A1)", ("+15550100", "=SUM(A1)")),
        ("\t+15550100", "\t=SUM(A1)", ("+15550100", "=SUM(A1)")),
        ("'+15550100", "'tis late", ("+15550100", "'tis late")),
        ("+15550100", "'=SUM(A1)", ("+15550100", "'=SUM(A1)")),
    ],
)
def test_apostrophes_against_formulas_are_no_part_of_the_cells_if_numbers_have_them(
    number: str, summary: str, shown: tuple[str, str]
) -> None:
    page = csv_page(call_line(phone_number=number, summary=summary))

    assert page.frame.select("Phone Number", "Summary").rows() == [shown]


def test_a_date_that_is_no_minute_does_not_count_for_the_range_of_a_page() -> None:
    """Such a row goes to quarantine; otherwise a single one would look like a server that ignores the range."""
    dates = ("2025-05-01 10:00", "0001-01-01T00:00:00Z", "9999-12-31", "2025-05-02 09:30")
    body = "".join(f"{line}\n" for line in (HEADER, *map(call_line, dates))).encode()

    page = parse_calls(csv_answer(body, len(dates)))

    assert (page.first_day, page.last_day) == (date(2025, 5, 1), date(2025, 5, 2))
    assert page.rows == len(dates)
    assert parse_calls(csv_answer(f"{HEADER}\n{call_line('2025-05-01 24:20')}\n".encode(), 1)).first_day is None


def test_a_missing_column_breaks_the_contract_and_is_named() -> None:
    with pytest.raises(ContractBroken, match="no column Outcome, Duration"):
        split(HEADER.replace("Outcome,", "").replace(",Duration", "").encode() + b"\n")


def test_the_columns_of_the_contract_are_found_in_any_case() -> None:
    body = f"{HEADER.lower()}\n{call_line(summary='Late')}\n".encode()

    assert split(body).frame["Summary"].to_list() == ["Late"]


@pytest.mark.parametrize("body", [b"", b"\n", b"\xef\xbb\xbf"])
def test_an_empty_body_has_no_rows(body: bytes) -> None:
    assert split(body).frame.is_empty()


def test_a_body_cut_anywhere_is_torn_or_lacks_rows() -> None:
    """The number of headers is stored, so only a cut within the last cell can pass unnoticed."""
    lines = [call_line(), call_line(summary='"commas, and ""quotes""\nand lines"'), call_line()]
    body = "".join(f"{line}\n" for line in (HEADER, *lines)).encode()
    last_cell = len("1:05\n")

    for end in range(len(body) - last_cell):
        with pytest.raises((TornAnswer, ContractBroken)):
            parse_calls(csv_answer(body[:end], len(lines)))


@pytest.mark.parametrize(
    ("total", "page", "per_page", "whole"),
    [
        (2, 0, 5000, True),
        (5, 1, 3, True),
        (5, 1, 2, True),
        (3, 0, 5000, False),
        (1, 0, 5000, False),
        (2, 1, 5000, False),
        (9, None, None, True),
        (1, None, None, False),
    ],
)
def test_a_page_has_the_rows_that_its_headers_promise(
    total: int, page: int | None, per_page: int | None, *, whole: bool
) -> None:
    answer = csv_answer(f"{HEADER}\n{call_line()}\n{call_line()}\n".encode(), total, page, per_page)

    if whole:
        assert parse_calls(answer).rows == 2
    else:
        with pytest.raises(TornAnswer, match="2 rows"):
            parse_calls(answer)


def test_a_row_of_another_length_is_set_aside_and_counted() -> None:
    body = f"{HEADER}\n{call_line()}\n2025-05-01 10:00,short\n{call_line()}\n{call_line()},long\n".encode()

    page = parse_calls(csv_answer(body, 4)).frame

    assert page.frame.height == 2
    assert [bad.reason for bad in page.bad] == [f"row: {count} fields, the header has 15" for count in (2, 16)]
    assert page.bad[0].payload == '["2025-05-01 10:00","short"]'


def test_a_row_without_its_last_cells_is_not_filled_up_with_nulls() -> None:
    """Polars accepts such a page: the cut only shows if the last column is null and separators are missing."""
    body = f"{HEADER}\n{call_line().rpartition(',')[0]}\n{call_line(duration_seconds='')}\n".encode()

    page = split(body)

    assert (page.frame.height, len(page.bad)) == (1, 1)


def test_a_row_that_is_no_utf_8_is_set_aside_with_its_bytes() -> None:
    body = (
        f"{HEADER}\n{call_line()}\n".encode() + call_line(summary="caf?").encode().replace(b"?", b"\xe9") + b"\n"
    )

    page = split(body)

    assert page.frame.height == 1
    assert page.bad[0].reason == "row: not UTF-8"
    assert r"caf\\xe9" in page.bad[0].payload


NEW_YORK = ZoneInfo("America/New_York")
AUTUMN = date(2025, 11, 2)


def local(*clock: str, day: date = AUTUMN) -> list[datetime]:
    return [datetime.fromisoformat(f"{day} {text}") for text in clock]


def called_at(minutes: list[datetime], zone: str) -> tuple[list[datetime], int]:
    calls = pl.DataFrame({"called_at_local": minutes}, schema={"called_at_local": pl.Datetime("us")})
    calls = calls.with_columns(call_date=pl.col("called_at_local").dt.date(), practice_id=pl.lit("p1"))
    resolved, gaps = add_called_at(calls, zone)
    return resolved["called_at"].to_list(), len(gaps)


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        (("00:50", "01:10", "01:50", "01:05", "01:30", "02:10"), [0, 0, 0, 1, 1, 0]),
        (("02:10", "01:30", "01:05", "01:50", "01:10", "00:50"), [0, 1, 1, 0, 0, 0]),
        (("00:50", "01:10", "01:50", "02:10"), [0, 0, 0, 0]),
        (("01:50", "00:10", "01:05", "02:10"), [0, 0, 0, 0]),
        (("01:10", "01:10", "01:10"), [0, 0, 0]),
        (("01:50", "01:10"), [0, 0]),
        (("01:10",), [0]),
        ((), []),
    ],
    ids=["upwards", "downwards", "no step back", "no order", "equal", "either order", "alone", "none"],
)
def test_the_order_of_the_day_decides_the_repeated_hour(clock: tuple[str, ...], expected: list[int]) -> None:
    assert folds(local(*clock), NEW_YORK) == expected


moments = st.lists(
    st.integers(0, 25 * 60 - 1).map(
        lambda minute: datetime(2025, 11, 2, 4, tzinfo=UTC) + timedelta(minutes=minute)
    ),
    unique=True,
    min_size=1,
).map(sorted)


@given(instants=moments, newest_first=st.booleans())
def test_a_day_with_a_step_back_is_resolved_to_the_minute(instants: list[datetime], *, newest_first: bool) -> None:
    """A real day of 25 hours in either order: all instants are right if the order shows the hour at all."""
    listed = instants[::-1] if newest_first else instants
    shown = [instant.astimezone(NEW_YORK).replace(tzinfo=None, fold=0) for instant in listed]
    resolved, gaps = called_at(shown, "America/New_York")

    way_up = sorted(shown) == shown
    way_down = sorted(shown, reverse=True) == shown
    outside = all(not 60 <= (minute.hour * 60 + minute.minute) < 120 for minute in shown)
    assert gaps == 0
    if outside or (not way_up and not way_down and folds(shown, NEW_YORK) != [0] * len(shown)):
        assert resolved == listed
    assert [item.astimezone(NEW_YORK).replace(tzinfo=None, fold=0) for item in resolved] == shown
