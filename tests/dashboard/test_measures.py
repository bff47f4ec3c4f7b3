"""The page of any measure gives the numbers of `vetl metric`, and refuses no choice without a word."""

from datetime import date
from typing import Any

from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Ask, Open


def table_of(page: AppTest) -> list[tuple[Any, ...]]:
    assert not page.exception
    return [tuple(row) for row in page.dataframe[0].value.itertuples(index=False)]


def test_a_rate_comes_with_both_counts_in_total_and_by_practice(
    opened: Open, ask: Ask, days: tuple[date, date]
) -> None:
    page = opened("measures", metric="completion_rate", by="practice")
    expected = ask(
        """select name, count(*) filter (where status = 'completed'), count(*) from marts.booking_sessions
           join marts.practices using (practice_id) where day between ? and ? group by name""",
        *days,
    )

    assert sorted(row[:3] for row in table_of(page)) == sorted(expected)
    completed, sessions = (sum(row[place] for row in expected) for place in (1, 2))
    assert str(page.metric[0].value) == f"{completed / sessions:.0%}"
    assert f"{completed:,}, of sessions: {sessions:,}" in page.caption[1].value


def test_two_dimensions_and_a_practice_are_in_the_address(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    page = opened("measures", metric="calls", by="week", **{"and": "direction"}, practice="loc-001")
    expected = ask(
        """select date_trunc('week', day)::date, direction, count(*) from marts.phone_calls
           where practice_id = 'loc-001' and day between ? and ? group by all order by all""",
        *days,
    )
    rows = [
        (row[0].date() if hasattr(row[0], "date") else row[0], row[1].lower(), row[2]) for row in table_of(page)
    ]

    assert rows == expected
    # Of one practice the week is the usual dimension, which no address names.
    assert {name: page.query_params[name] for name in ("metric", "and", "practice")} == {
        "metric": "calls",
        "and": "direction",
        "practice": "loc-001",
    }
    assert "by" not in page.query_params


def test_people_are_by_practice_and_week_alone(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    page = opened("measures", metric="unique_callers")
    ((most,),) = ask(
        "select max(unique_callers) from marts.practice_weekly where week >= ? and week + 6 <= ?", *days
    )

    assert not page.metric
    assert max(row[2] for row in table_of(page)) == most
    assert page.selectbox(key="by").options == ["Practice"]


def test_each_kind_of_measure_has_a_usual_view(opened: Open) -> None:
    """A stage needs its stage; a median and a measure without rows have a page, too."""
    for metric in ("drop_off_rate", "median_hours_to_booking", "acts"):
        page = opened("measures", metric=metric)
        assert not page.exception, metric
        assert len(page.dataframe) == 1 or page.info[0].value == "Nothing in this period.", metric
