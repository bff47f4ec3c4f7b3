"""The clicked mark of a chart is in the address: a link to it shows its rows, and text in it is only text."""

from datetime import date

import pytest
from streamlit.testing.v1 import AppTest
from support.dashboard_pages import Ask, Open


def said(test: AppTest) -> list[str]:
    return [one.value for one in test.markdown if "behind the mark" in one.value]


def test_a_link_to_a_mark_shows_its_rows_and_names_it(opened: Open, ask: Ask, days: tuple[date, date]) -> None:
    ((practice, name, weekday, hour, calls), *_) = ask(
        """select practice_id, any_value(practice_name), isodow(called_at_local), hour(called_at_local), count(*)
           from marts.phone_calls where day between ? and ? and not is_answered group by all order by 5 desc, 1""",
        *days,
    )
    test = opened("phones", practice=practice, clicked=f"unanswered-by-hour?weekday={weekday}&hour={hour}")

    (line,) = said(test)
    assert line.startswith(f"**{calls} rows** are behind the mark: weekday ")
    assert line.endswith(f"day, hour {hour}.")
    assert not test.exception
    assert f"unanswered-by-hour?weekday={weekday}&hour={hour}" in test.query_params["clicked"]
    assert name in test.caption[0].value


def test_a_practice_is_named_by_its_id(opened: Open, ask: Ask) -> None:
    ((name,),) = ask("select name from marts.practices where practice_id = 'loc-001'")
    test = opened("appointments", clicked="visits-by-practice?practice=loc-001")
    assert said(test) == [] or name in said(test)[0]
    assert not test.exception


@pytest.mark.parametrize(
    "mark",
    [
        "visits-weeks?week=no-day&visits+were=Kept",
        "visits-weeks?week=2026-01-05&visits+were=![x](http://evil)",
        "visits-by-practice?practice=nobody",
        "weeks-ahead?weeks_ahead=%27; drop table marts.appointments; --",
        "visits-weeks?",
    ],
)
def test_an_address_that_names_no_mark_is_no_error(opened: Open, mark: str) -> None:
    test = opened("appointments", clicked=mark)
    assert not test.exception
    assert not test.error
    assert said(test) == []


def test_a_mark_of_a_chart_that_is_not_there_is_said(opened: Open) -> None:
    test = opened("phones", clicked="no-chart?week=1")
    assert any("a mark, which cannot be shown here" in one.value for one in test.warning)
    assert "clicked" not in test.query_params
