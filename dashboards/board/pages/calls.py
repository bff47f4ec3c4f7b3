"""Phone calls: when callers who wanted an appointment are missed, how calls end, how many are answered."""

import streamlit as st

from board import charts
from board.parts import View, by_value, compared, figures, part, shown
from board.scope import IN_PERIOD, WHOLE_WEEKS

MART = "booking_intent_daily"
WITHIN = f"{IN_PERIOD} and ($channel is null or direction = $channel)"
TOTALS = f"""
    select sum(calls)::bigint as calls, sum(answered_calls)::bigint as answered,
           sum(new_booking_intent_calls)::bigint as wanted, sum(new_booking_calls)::bigint as booked,
           sum(missed_new_booking_calls)::bigint as missed
    from marts.booking_intent_daily where {WITHIN}
"""
HOURS = f"""
    select isodow(called_at_local)::bigint as weekday, hour(called_at_local)::bigint as hour, count(*) as calls,
           count(*) filter (where is_new_booking_intent) as new_booking_intent_calls,
           count(*) filter (where is_missed_new_booking) as missed_new_booking_calls,
           count(*) filter (where not is_answered) as unanswered_calls
    from marts.phone_calls where {WITHIN} group by all order by all
"""
OUTCOMES = f"""
    select outcome, count(*) as calls, count(*) filter (where is_answered) as answered_calls,
           count(*) filter (where is_missed_new_booking) as missed_new_booking_calls
    from marts.phone_calls where {WITHIN} group by outcome order by calls desc, outcome
"""
REASONS = f"""
    select call_classification, sum(calls)::bigint as calls, sum(answered_calls)::bigint as answered_calls,
           sum(new_booking_intent_calls)::bigint as new_booking_intent_calls,
           sum(new_booking_calls)::bigint as new_booking_calls,
           sum(missed_new_booking_calls)::bigint as missed_new_booking_calls
    from marts.booking_intent_daily where {WITHIN} group by call_classification
    order by calls desc, call_classification
"""
WEEKS = f"""
    select date_trunc('week', day)::date as week, sum(answered_calls)::bigint as answered,
           sum(calls - answered_calls)::bigint as unanswered, sum(answered_calls) / sum(calls) as answered_share
    from marts.booking_intent_daily where {WHOLE_WEEKS} and ($channel is null or direction = $channel)
    group by week order by week
"""


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _totals(view)
    with part("When callers who wanted an appointment did not get one"):
        table = view.ask(HOURS)
        shown(
            *(view, table, charts.hours_of_the_week(table, "missed_new_booking_calls", view.words)),
            name="missed-by-hour",
            says="Calls for a new appointment that ended without one, by weekday and hour of the practice's clock",
            defined_by=[(MART, "missed_new_booking_calls"), (MART, "new_booking_intent_calls")],
        )
        if len({practice.time_zone for practice in view.scope.practices}) > 1:
            st.caption("Each call counts in the hour of its own practice's clock.")
    with part("How calls end"):
        _by(view, OUTCOMES, "outcome", "Calls by outcome, the most frequent first")
    with part("What calls are about"):
        _by(view, REASONS, "call_classification", "Calls by what they were about, the most frequent first")
    with part("Answered and unanswered"):
        table = view.ask(WEEKS)
        long = charts.by_measure(table, "week", ["answered", "unanswered"], "calls were", "calls")
        shown(
            *(view, table, charts.over_time(long, "week", "calls", "calls were")),
            name="answered",
            says="Answered and unanswered calls by week",
            defined_by=[(MART, "answered_calls"), (MART, "calls")],
        )


def _totals(view: View) -> None:
    sums = compared(view, MART, TOTALS)
    figures(
        view,
        [
            sums.count("Calls", "calls", "in and out"),
            sums.share("Answered", "answered", "calls", "calls", by="answered_calls"),
            sums.share("Wanted, and booked", "booked", "wanted", "calls", by="new_booking_conversion_rate"),
            sums.count("Wanted, not booked", "missed", "calls", better="less", by="missed_new_booking_calls"),
        ],
    )


def _by(view: View, sql: str, column: str, says: str) -> None:
    by_value(
        *(view, view.ask(sql), column, "calls"),
        name=f"calls-by-{column.replace('_', '-')}",
        says=says,
        defined_by=[("phone_calls", column), (MART, "calls"), (MART, "answered_calls")],
    )
