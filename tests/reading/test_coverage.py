"""Spans of time that were read; the part of a row that a proof keeps; times near the ends of the calendar."""

import json
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, strategies as st
from vetl.core.pages import evidence_of, instant, key_of, updated_at
from vetl.reading.coverage import Coverage, DaysCursor

EPOCH = date(2026, 1, 1)
spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12)


def day(number: int) -> date:
    return EPOCH + timedelta(days=number)


def covering(spans: list[tuple[int, int]]) -> Coverage[date]:
    coverage: Coverage[date] = Coverage()
    for first, last in spans:
        coverage = coverage.add(day(first), day(last))
    return coverage


@given(spans=spans, start=st.integers(0, 60), end=st.integers(0, 60))
def test_the_missing_time_is_exactly_the_time_never_added(
    spans: list[tuple[int, int]], start: int, end: int
) -> None:
    added = {number for first, last in spans for number in range(first, last)}

    gaps = covering(spans).missing(day(start), day(end))

    missing = {number for gap in gaps for number in range((gap[0] - EPOCH).days, (gap[1] - EPOCH).days)}
    assert missing == set(range(start, end)) - added


@given(spans=spans)
def test_spans_are_disjoint_ascending_and_survive_the_cursor(spans: list[tuple[int, int]]) -> None:
    coverage = covering(spans)

    edges = [edge for span in coverage.spans for edge in span]
    assert edges == sorted(set(edges))
    kept = json.loads(json.dumps(DaysCursor(covered=coverage.spans).move().cursor))
    assert DaysCursor.model_validate(kept).covered == coverage.spans


def test_through_is_how_far_there_is_no_gap() -> None:
    coverage = Coverage(((day(0), day(5)), (day(7), day(9))))

    assert coverage.through(day(0)) == day(5)
    assert coverage.through(day(5)) is None


@given(spans=spans, start=st.integers(0, 60), end=st.integers(0, 60))
def test_doubtful_time_is_no_longer_covered_until_it_is_added_again(
    spans: list[tuple[int, int]], start: int, end: int
) -> None:
    coverage = covering(spans)

    doubted = coverage.without(day(start), day(end))

    assert doubted.missing(day(start), day(end)) == ([(day(start), day(end))] if start < end else [])
    assert doubted.union(coverage) == coverage


VALUES = st.none() | st.integers() | st.text() | st.datetimes().map(str)
ROWS = st.dictionaries(st.sampled_from(["id", "updated_at", "created_at", "notes"]), VALUES)
ENDS = ("0001-01-01T00:00:00Z", "0001-01-07T23:59:59Z", "9999-12-31T23:59:59-14:00", "9999-12-25T00:00:01Z")


@given(ROWS)
def test_it_proves_as_much_as_the_row(row: dict[str, Any]) -> None:
    kept = evidence_of(row)

    assert key_of(kept) == key_of(row)
    assert updated_at(kept) == updated_at(row)


@pytest.mark.parametrize("text", ENDS)
def test_a_time_at_an_end_of_the_calendar_counts_as_none(text: str) -> None:
    assert instant(text) is None


@given(st.datetimes(min_value=datetime(1, 1, 8, 1), max_value=datetime(9999, 12, 24, 23)))  # noqa: DTZ001 - UTC is meant
def test_every_other_time_has_a_local_time_in_every_zone_and_room_for_margins(at: datetime) -> None:
    known = instant(f"{at.isoformat()}Z")

    assert known
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        assert (known - timedelta(hours=36)).astimezone(ZoneInfo(zone)) < known + timedelta(hours=36)
