"""Texts of the CSV as values: labels, minutes, Yes/No and m:ss."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.warehouse_with_rows import call_line, call_record, csv_page

from pipelines.endpoints import by_name
from pipelines.loading.frames import Shape, typed
from pipelines.loading.phone_calls.values import CallValues, as_csv_shows, read_values
from pipelines.partner.calls_csv import COLUMNS
from pipelines.partner.models import CALL_OUTCOMES, PhoneCall


def values_of(*lines: str) -> CallValues:
    """Return one page of these lines."""
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


@given(seconds=st.lists(st.integers(0, 400_000), max_size=20))
def test_durations_are_minutes_and_seconds_however_long(seconds: list[int]) -> None:
    lines = [call_line(duration_seconds=f"{total // 60}:{total % 60:02}") for total in seconds]

    assert values_of(*lines).frame["duration_seconds"].to_list() == seconds


def test_empty_cells_are_null() -> None:
    empty = {column.raw: '""' if number % 2 else "" for number, column in enumerate(COLUMNS) if number}
    (row,) = values_of(call_line(**empty)).frame.select(list(empty)).rows()

    assert set(row) == {None}


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


def test_each_page_has_its_own_rows_and_those_that_were_read_before_stay() -> None:
    bad, good = call_line(booked="Maybe"), call_line(booked="No")
    before = values_of(good)

    first, again, last = read_values([csv_page(bad, good), before, csv_page(call_line(), bad, bad)])

    assert [page.frame["booked"].to_list() for page in (first, last)] == [[False], [True]]
    assert [len(page.bad) for page in (first, last)] == [1, 2]
    assert again is before


def test_a_json_record_is_seen_as_the_row_that_the_csv_makes_of_it() -> None:
    columns = by_name("phone_calls").__class__(
        "calls", "calls", PhoneCall, by_name("phone_calls").strategy, "calls"
    )
    record = call_record("a", customer_sentiment="Very Positive", summary="", client_name=None)
    frame = typed([record], Shape(columns.columns(), ("id",), PhoneCall), ["p1"]).frame

    (row,) = as_csv_shows(frame).rows(named=True)

    assert row["customer_sentiment"] == "very_positive"
    assert (row["summary"], row["client_name"]) == (None, None)
    assert (row["booked"], row["duration_seconds"], row["practice"]) == (True, 65, "Harbor")
