"""Next week's phones: the calls to expect, the staff hours that they ask for, and how good the forecasts were."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import streamlit as st

from board import charts
from board.address import pick_at_once
from board.parts import draw_chart, part
from board.scope import CHOSEN
from board.view import View

MART, SCORES = "calls_forecast", "calls_forecast_scores"
MEASURES = {
    "expected_calls": "Calls",
    "expected_bookable_calls": "Calls to book",
    "staff_minutes": "Staff minutes",
}
DEFINED = {
    "expected_calls": (MART, "calls_expected"),
    "expected_bookable_calls": (MART, "bookable_calls_expected"),
    "staff_minutes": (MART, "staff_minutes_expected"),
}
_SUMS = "sum(calls_expected) as expected_calls, sum(bookable_calls_expected) as expected_bookable_calls"
_MINUTES = "sum(staff_minutes_expected)"
COMING = f"""
    from marts.calls_forecast join marts.practices using (practice_id)
    where {CHOSEN} and day > today and today >= (select max(today) - 1 from marts.practices)
"""
"""The predictions of days to come, without those of practices that were not read for days."""
HOURS = f"""
    select weekday::bigint as weekday, hour::bigint as hour, {_SUMS}, {_MINUTES} as staff_minutes
    {COMING} and day <= today + 7 group by all
"""
ENDS = f"""
    select weekday::bigint as weekday, hour::bigint as hour, calls_expected as expected_calls, calls_low as low,
           calls_high as high, bookable_calls_expected as expected_bookable_calls,
           staff_minutes_expected as staff_minutes {COMING} and day <= today + 7
"""
DAYS = f"""
    with coming as (select *, day - today as days_ahead {COMING}), counted as (
        select today - day as ago, sum(calls) as calls from marts.booking_intent_daily
        join marts.practices using (practice_id)
        where practice_id in (select practice_id from coming) and direction = 'inbound'
              and day between today - 112 and today - 1 group by ago
    ), tried as (
        select counted.calls, avg(earlier.calls) as usual
        from counted join counted as earlier
            on (earlier.ago - counted.ago) % 7 = 0 and earlier.ago - counted.ago between 7 and 56
        where counted.ago <= 56 group by counted.ago, counted.calls having count(*) >= 4
    ), errors as (
        select quantile_cont((calls - usual) / sqrt(usual + 0.5), [0.1, 0.9]) as ends from tried
        having count(*) >= 28
    ), expected as (
        select days_ahead, min(day) as day, {_SUMS}, {_MINUTES} / 60 as staff_hours from coming
        group by days_ahead
        having count(distinct practice_id) = (select count(distinct practice_id) from coming)
    )
    select day, expected_calls, greatest(expected_calls + ends[1] * sqrt(expected_calls + 0.5), 0) as low,
           expected_calls + ends[2] * sqrt(expected_calls + 0.5) as high, expected_bookable_calls, staff_hours,
           (select sum(calls) / 8 from counted where ago between 1 and 56 and (ago + days_ahead) % 7 = 0)
               as usual_calls
    from expected left join errors on true order by day
"""
"""The days that every forecast is about, counted from each practice's own today: tomorrow is there for all.

The band is as wide as the days of the last eight weeks lay around the usual calls before them, 80 of 100.
"""
MADE = f"""
    select min(made_on) as made_on, min(day) as first_day, max(day) as last_day,
           count(distinct practice_id)::bigint as practices {COMING}
"""
WEEKS = f"""
    select week, sum(hours)::bigint as hours, sum(hours_within) / sum(hours) as within_share,
           sum(error) / nullif(sum(naive_error), 0) as error_share
    from marts.calls_forecast_scores where {CHOSEN} and measure = 'calls' group by week order by week
"""
_MANY = 5
NONE = "There is no forecast yet: it needs eight weeks of calls, and whoever runs vetl turns it on."


def draw(view: View) -> None:
    """Draw the page."""
    with part("Calls to expect"):
        made = view.ask(MADE).row(0, named=True)
        if made["made_on"] is None:
            st.info(NONE)
        else:
            _introduction(view, made)
            _coming(view)
    with part("How good the forecasts were"):
        _scores(view)


def _coming(view: View) -> None:
    with part("The next fortnight, day by day"):
        table = _rounded(view.ask(DAYS))
        st.caption(
            "Of 100 such days about 80 lie within the band. Usual calls are the mean of the same weekday over "
            "the last eight weeks."
        )
        long = charts.by_measure(table, "day", ["expected_calls", "usual_calls"], "calls are", "inbound calls")
        draw_chart(
            view,
            table,
            charts.within(
                charts.over_time(long, "day", "inbound calls", "calls are"), table, "day", "low", "high"
            ),
            name="calls-expected-by-day",
            alt="Expected inbound calls by day of the next two weeks with their band, and the usual ones",
            defined_by=list(DEFINED.values()),
        )
    with part("The next seven days, hour by hour"):
        _hours(view)


def _introduction(view: View, made: Mapping[str, Any]) -> None:
    words = view.words
    without = len(view.scope.chosen) - made["practices"]
    left_out = f" {words.count(without, 'practice has', 'practices have')} no forecast." if without else ""
    st.markdown(
        f"{words.days(made['first_day'], made['last_day'])}, as forecast on {words.day(made['made_on'])} from the "
        "calls until then. The period in the sidebar does not matter here. Holidays and hours that hardly ever "
        f"have a call are left out.{left_out}"
    )


def _hours(view: View) -> None:
    measure = pick_at_once("expected", "Expected", MEASURES, usual="expected_calls")
    is_one = len(view.scope.chosen) == 1
    table = _rounded(view.ask(ENDS if is_one else HOURS).sort("weekday", "hour"))
    if is_one and not table.is_empty():
        st.caption("The table has the 80 % interval of the calls: 80 of 100 such hours lie between low and high.")
    draw_chart(
        view,
        table,
        charts.hours_of_the_week(table, measure, view.words, digits=0 if _is_many(table[measure]) else 1),
        name="calls-expected-by-hour",
        alt=f"{MEASURES[measure]} expected by weekday and hour of the practice's clock, over the next seven days",
        defined_by=[DEFINED[measure], (MART, "calls_low"), (MART, "calls_high")],
    )


def _rounded(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(pl.Float64).round(1))


def _is_many(values: pl.Series) -> bool:
    """Return whether a legend of these values needs no decimals."""
    return any(value >= _MANY for value in values)


def _scores(view: View) -> None:
    table = view.ask(WEEKS)
    if not table.is_empty():
        st.caption(
            "80 % of the hours should be within their intervals, and the error below that of last week's hours."
        )
    draw_chart(
        view,
        table,
        charts.over_time(table, "week", "within_share", share=True),
        name="forecast-scores",
        alt="Share of hours whose calls were within their 80 % interval, by week",
        defined_by=[(SCORES, "coverage"), (SCORES, "error_beside_naive")],
        empty="No predicted day is over yet.",
    )
