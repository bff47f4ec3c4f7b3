"""Phone calls: when callers who wanted an appointment are missed, how calls end, how many are answered."""

import polars as pl
import streamlit as st

from board import charts
from board.parts import Figure, View, figures, part, shown
from board.scope import IN_PERIOD, WHOLE_WEEKS
from board.words import named

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
    """The page."""
    asked = {**view.scope.parameters, "channel": view.scope.channel}
    with part():
        _totals(view)
    with part("When callers who wanted an appointment did not get one"):
        table = view.file.ask(HOURS, **asked)
        shown(
            *(view, table, charts.hours_of_the_week(table, "missed_new_booking_calls", view.words)),
            name="missed-by-hour",
            says="Calls for a new appointment that ended without one, by weekday and hour of the practice's clock",
            defined_by=[(MART, "missed_new_booking_calls"), (MART, "new_booking_intent_calls")],
        )
        if len({practice.time_zone for practice in view.scope.practices}) > 1:
            st.caption("Each call counts in the hour of its own practice's clock.")
    with part("How calls end"):
        _by(view, view.file.ask(OUTCOMES, **asked), "outcome", "Calls by outcome, the most frequent first")
    with part("What calls are about"):
        table = view.file.ask(REASONS, **asked)
        _by(view, table, "call_classification", "Calls by what they were about, the most frequent first")
    with part("Answered and unanswered"):
        table = view.file.ask(WEEKS, **asked)
        long = table.select("week", "answered", "unanswered").unpivot(
            index="week", variable_name="calls were", value_name="calls"
        )
        shown(
            *(view, table, charts.over_time(long, "week", "calls", "calls were")),
            name="answered",
            says="Answered and unanswered calls by week",
            defined_by=[(MART, "answered_calls"), (MART, "calls")],
        )


def _totals(view: View) -> None:
    channel = view.scope.channel
    now = view.file.ask(TOTALS, **view.scope.parameters, channel=channel).row(0, named=True)
    old = view.file.ask(TOTALS, **view.scope.earlier, channel=channel).row(0, named=True)
    calls, wanted = now["calls"] or 0, now["wanted"] or 0
    figures(
        view,
        [
            Figure("Calls", (MART, "calls"), calls, None, old["calls"], better="neither", of="in and out"),
            Figure(
                *(
                    "Answered",
                    (MART, "answered_calls"),
                    now["answered"] or 0,
                    calls,
                    old["answered"],
                    old["calls"],
                ),
                of="calls",
            ),
            Figure(
                *("Wanted, and booked", (MART, "new_booking_conversion_rate"), now["booked"] or 0, wanted),
                *(old["booked"], old["wanted"]),
                of="calls",
            ),
            Figure(
                *(
                    "Wanted, not booked",
                    (MART, "missed_new_booking_calls"),
                    now["missed"] or 0,
                    None,
                    old["missed"],
                ),
                better="less",
                of="calls",
            ),
        ],
    )


def _by(view: View, table: pl.DataFrame, column: str, says: str) -> None:
    labelled = table.with_columns(pl.col(column).map_elements(named, pl.String, skip_nulls=False))
    shown(
        *(view, table, charts.bars(labelled, "calls", column)),
        name=f"calls-by-{column.replace('_', '-')}",
        says=says,
        defined_by=[("phone_calls", column), (MART, "calls"), (MART, "answered_calls")],
    )
