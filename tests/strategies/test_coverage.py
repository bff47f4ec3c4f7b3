import json
from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from pipelines.reading.coverage import Coverage
from pipelines.strategies.cursors import DaysCursor

EPOCH = date(2026, 1, 1)
spans = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=12)


def day(number: int) -> date:
    return EPOCH + timedelta(days=number)


@given(spans=spans, start=st.integers(0, 60), end=st.integers(0, 60))
def test_the_missing_time_is_exactly_the_time_never_added(
    spans: list[tuple[int, int]], start: int, end: int
) -> None:
    coverage: Coverage[date] = Coverage()
    added: set[int] = set()
    for first, last in spans:
        coverage = coverage.add(day(first), day(last))
        added |= set(range(first, last))

    gaps = coverage.missing(day(start), day(end))

    missing = {number for gap in gaps for number in range((gap[0] - EPOCH).days, (gap[1] - EPOCH).days)}
    assert missing == set(range(start, end)) - added


@given(spans=spans)
def test_spans_are_disjoint_ascending_and_survive_the_cursor(spans: list[tuple[int, int]]) -> None:
    coverage: Coverage[date] = Coverage()
    for first, last in spans:
        coverage = coverage.add(day(first), day(last))

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
    coverage: Coverage[date] = Coverage()
    for first, last in spans:
        coverage = coverage.add(day(first), day(last))

    doubted = coverage.without(day(start), day(end))

    assert doubted.missing(day(start), day(end)) == ([(day(start), day(end))] if start < end else [])
    assert doubted.union(coverage) == coverage
