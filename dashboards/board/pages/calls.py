"""Phone calls: who is answered, when callers are missed, how calls end, and what the voice agent settles."""

import polars as pl
import streamlit as st

from board import charts
from board.address import pick, pick_at_once
from board.behind import Behind
from board.figures import compared, figures
from board.parts import draw_by_value, draw_chart, part
from board.scope import IN_PERIOD, WHOLE_WEEKS
from board.view import View

MART = "booking_intent_daily"
UNANSWERED = {"unanswered_calls": "Not answered", "unanswered_share": "Not answered, of 100"}
DIRECTIONS = {"inbound": "Inbound", "outbound": "Outbound"}
ONE_WAY = "($direction is null or direction = $direction)"
WITHIN = f"{IN_PERIOD} and {ONE_WAY}"
ENDS = """
    case when ending = 'lost' and not is_answered then 'Not answered'
         when ending = 'resolved' then 'Settled in the call'
         when ending = 'handed_over' then 'Handed to the staff'
         when ending = 'lost' then 'Lost on the way'
         else 'Not said' end
"""
TOTALS = f"""
    with by_way as (
        select direction, sum(calls) as calls, sum(answered_calls) as answered,
               sum(new_booking_intent_calls) as wanted, sum(new_booking_calls) as booked
        from marts.booking_intent_daily where {WITHIN} group by direction
    )
    select coalesce(sum(calls) filter (where direction = 'inbound'), 0)::bigint as inbound,
           coalesce(sum(answered) filter (where direction = 'inbound'), 0)::bigint as inbound_answered,
           coalesce(sum(calls) filter (where direction = 'outbound'), 0)::bigint as outbound,
           coalesce(sum(answered) filter (where direction = 'outbound'), 0)::bigint as outbound_answered,
           coalesce(sum(wanted), 0)::bigint as wanted, coalesce(sum(booked), 0)::bigint as booked,
           (select coalesce(sum(resolved), 0)::bigint from marts.call_endings_daily where {IN_PERIOD}) as settled
    from by_way
"""
PHONE = f"""
    select (select sum(new_booking_intent_calls)::bigint from marts.booking_intent_daily
            where {IN_PERIOD} and direction = 'inbound') as calls,
           (select sum(missed_new_booking_calls)::bigint from marts.booking_intent_daily
            where {IN_PERIOD} and direction = 'inbound') as calls_unbooked,
           (select sum(new_booking_callers)::bigint from marts.practice_daily where {IN_PERIOD}) as callers,
           (select sum(missed_callers)::bigint from marts.practice_daily where {IN_PERIOD}) as callers_missed,
           (select sum(episodes)::bigint from marts.booking_requests_daily
            where {IN_PERIOD} and first_channel = 'call' and begun_by = 'client') as requests,
           (select sum(not_booked)::bigint from marts.booking_requests_daily
            where {IN_PERIOD} and first_channel = 'call' and begun_by = 'client') as requests_unbooked
"""
HOURS = f"""
    select isodow(called_at_local)::bigint as weekday, hour(called_at_local)::bigint as hour, is_open,
           count(*) as calls, count(*) filter (where not is_answered) as unanswered_calls,
           count(*) filter (where is_new_booking_intent) as new_booking_intent_calls,
           count(*) filter (where is_missed_new_booking) as missed_new_booking_calls,
           count(*) filter (where call_classification = 'emergency') as emergencies,
           count(*) filter (where call_classification = 'emergency' and not is_answered) as emergencies_unanswered
    from marts.phone_calls where {WITHIN} group by all
"""
"""One pass over the calls for the hours of the week and the opening hours."""
LOAD = """
    select weekday::bigint as weekday, hour::bigint as hour, sum(calls)::bigint as calls,
           sum(staff_hours_needed) as staff_hours_needed, max(usual_at_once) as usual_at_once,
           max(most_at_once) as most_at_once
    from marts.phone_load_hourly where practice_id in (select unnest($practices)) group by all order by all
"""
OUTCOMES = f"""
    select outcome, {ENDS} as ended, count(*) as calls, count(*) filter (where is_answered) as answered_calls,
           count(*) filter (where is_missed_new_booking) as missed_new_booking_calls
    from marts.phone_calls where {WITHIN} group by all
"""
REASONS = f"""
    with settled as (
        select call_classification, sum(resolved) / nullif(sum(answered), 0) as settled_share
        from marts.call_endings_daily where {IN_PERIOD} and $direction is distinct from 'outbound'
        group by call_classification
    ), counted as (
        select call_classification, sum(calls)::bigint as calls, sum(answered_calls)::bigint as answered_calls,
               sum(new_booking_intent_calls)::bigint as new_booking_intent_calls,
               sum(new_booking_calls)::bigint as new_booking_calls,
               sum(missed_new_booking_calls)::bigint as missed_new_booking_calls
        from marts.booking_intent_daily where {WITHIN} group by call_classification
    )
    select counted.call_classification, calls, answered_calls, settled_share, new_booking_intent_calls,
           new_booking_calls, missed_new_booking_calls
    from counted left join settled
        on counted.call_classification is not distinct from settled.call_classification
    order by calls desc, counted.call_classification
"""
"""The share that is settled is of inbound calls, as the figure above is."""
WEEKS = f"""
    select date_trunc('week', day)::date as week, direction, sum(calls)::bigint as calls,
           sum(answered_calls)::bigint as answered_calls, sum(answered_calls) / sum(calls) as answered_share
    from marts.booking_intent_daily where {WHOLE_WEEKS} and {ONE_WAY}
    group by week, direction order by week, direction
"""


def draw(view: View) -> None:
    """Draw the page."""
    direction = pick("direction", "Direction", DIRECTIONS, width=260)
    with part():
        _totals(view, direction)
    if direction != "outbound":
        with part():
            _reconciled(view)
    with part("When calls are not answered"):
        # A call that nobody answered has no intent: a map of intents would show the worst hours as the best ones.
        counted = view.ask(HOURS, {"direction": direction})
        table = _of_calls(counted, "weekday", "hour")
        shown = pick_at_once("unanswered", "Shown", UNANSWERED, usual="unanswered_calls")
        drawn = table.with_columns(pl.col("unanswered_share") * 100) if shown == "unanswered_share" else table
        draw_chart(
            view,
            table,
            charts.hours_of_the_week(drawn, shown, view.words),
            name="unanswered-by-hour",
            alt=f"{UNANSWERED[shown]} of the calls, by weekday and hour of the practice's clock",
            defined_by=[(MART, "answered_calls"), (MART, "calls"), (MART, "missed_new_booking_calls")],
            behind=_calls(
                direction, "not is_answered", weekday="isodow(called_at_local)", hour="hour(called_at_local)"
            ),
        )
        if len({practice.time_zone for practice in view.scope.practices}) > 1:
            st.caption("Each call counts in the hour of its own practice's clock.")
    if direction is None:  # a person on the telephone takes calls of both
        with part("How many people the telephone needs"):
            _load(view)
    with part("In and after opening hours"):
        _after_hours(view, view.ask(HOURS, {"direction": direction}), direction)
    with part("How calls end"):
        _ends(view, direction)
    with part("What calls are about"):
        _by(
            view,
            view.ask(REASONS, {"direction": direction}),
            "call_classification",
            "Calls by what they were about",
            direction,
        )
    with part("Answered, week by week"):
        table = view.ask(WEEKS, {"direction": direction})
        draw_chart(
            view,
            table,
            charts.over_time(charts.worded(table, "direction"), "week", "answered_share", "direction", share=True),
            name="answered",
            alt="Share of answered calls by week, inbound and outbound apart",
            defined_by=[(MART, "answered_calls"), (MART, "calls")],
            behind=_calls(direction, "true", week="date_trunc('week', day)::date", direction="direction"),
            weekly=True,
        )


def _calls(way: str | None, where: str, **by: str) -> Behind:
    """Return the calls behind the marks of a chart."""
    within = WHOLE_WEEKS if "week" in by else IN_PERIOD
    return Behind("marts.phone_calls", f"{within} and {ONE_WAY} and {where}", by, {"direction": way})


def _totals(view: View, direction: str | None) -> None:
    sums = compared(view, MART, TOTALS, {"direction": direction})
    inbound = [
        sums.share("Calls answered", "inbound_answered", "inbound", "inbound calls", by="answered_calls"),
        sums.share("Settled by the agent", "settled", "inbound_answered", "answered calls", by="answered_calls"),
    ]
    outbound = sums.share(
        "Outbound, answered", "outbound_answered", "outbound", "outbound calls", by="answered_calls"
    )
    wanted = sums.share("Wanted, and booked", "booked", "wanted", "calls", by="new_booking_conversion_rate")
    shown_now = {"inbound": [*inbound, wanted], "outbound": [outbound, wanted]}
    figures(view, shown_now.get(direction or "", [*inbound, outbound, wanted]))


def _reconciled(view: View) -> None:
    """Draw the line that connects the calls, the callers and the booking requests of the phone."""
    words, row = view.words, view.ask(PHONE).row(0, named=True)
    a_day = {"callers", "callers_missed"}  # who calls on two days counts on both: their sum is no number of people
    number = {
        name: words.number((value or 0) / (view.scope.days if name in a_day else 1)) for name, value in row.items()
    }
    st.markdown(
        f"**{number['calls']} inbound calls** wanted a new appointment; {number['calls_unbooked']} of them ended "
        f"without one. That is **{number['callers']} callers a day** (who calls twice on a day counts once), "
        f"of whom {number['callers_missed']} missed it in a call. Calls within 14 days are one booking request: "
        f"**{number['requests']} booking requests** began by phone; {number['requests_unbooked']} of these are "
        "not booked so far."
    )


def _load(view: View) -> None:
    table = view.ask(LOAD)
    st.caption(
        "Of the last 13 weeks, whatever the period, in both directions: the calls at once at a usual busy moment, "
        "unanswered ones among them; of several practices those of the busiest. The table has the people who "
        "speak all the time, if the staff takes every call."
    )
    draw_chart(
        view,
        table,
        charts.hours_of_the_week(table, "usual_at_once", view.words),
        name="telephone-load",
        alt="Calls at once, usually, by weekday and hour of the practice's clock",
        defined_by=[("phone_load_hourly", name) for name in ("staff_hours_needed", "usual_at_once")],
    )


def _of_calls(counted: pl.DataFrame, *by: str) -> pl.DataFrame:
    """Return the counts of `HOURS` by some of its columns, with the share of calls that nobody answered."""
    summed = counted.group_by(by).agg(pl.exclude("weekday", "hour", "is_open").sum()).sort(by)
    share = pl.col("unanswered_calls") / pl.col("calls")
    emergencies = [name for name in summed.columns if name.startswith("emergencies")]
    return summed.drop(emergencies if "hour" in by else []).with_columns(share.alias("unanswered_share"))


def _after_hours(view: View, counted: pl.DataFrame, direction: str | None) -> None:
    is_open = pl.when("is_open").then(pl.lit("Opening hours")).otherwise(pl.lit("After hours"))
    missed = pl.col("missed_new_booking_calls") / pl.col("new_booking_intent_calls")
    table = (
        _of_calls(counted, "is_open")
        .select(
            is_open.alias("hours"),
            pl.exclude("is_open"),
            pl.when(pl.col("new_booking_intent_calls") > 0).then(missed).alias("missed_share"),
        )
        .sort("hours", descending=True)
    )
    st.caption("Opening hours are those that are set for each practice.")
    draw_chart(
        view,
        table,
        charts.bars(table, "unanswered_calls", "hours"),
        name="after-hours",
        alt="Calls that nobody answered, in and after opening hours",
        defined_by=[(MART, "answered_calls"), (MART, "calls"), (MART, "missed_new_booking_calls")],
        behind=_calls(
            direction, "not is_answered", hours="case when is_open then 'Opening hours' else 'After hours' end"
        ),
    )


def _ends(view: View, direction: str | None) -> None:
    outcomes = view.ask(OUTCOMES, {"direction": direction})
    counts = pl.exclude("outcome", "ended").sum()
    groups = outcomes.group_by("ended").agg(counts).sort("calls", "ended", descending=[True, False])
    groups = groups.with_columns((pl.col("calls") / pl.col("calls").sum()).alias("share"))
    draw_chart(
        view,
        groups,
        charts.bars(groups, "calls", "ended"),
        name="calls-by-end",
        alt="Calls by how they ended, in five groups",
        defined_by=[("phone_calls", "ending"), (MART, "answered_calls")],
        behind=_calls(direction, "true", ended=ENDS),
    )
    with st.expander("Each outcome"):
        _by(
            view,
            outcomes.group_by("outcome").agg(counts).sort("calls", "outcome", descending=[True, False]),
            "outcome",
            "Calls by outcome, the most frequent first",
            direction,
        )


def _by(view: View, table: pl.DataFrame, column: str, says: str, direction: str | None) -> None:
    draw_by_value(
        view,
        table,
        column,
        "calls",
        name=f"calls-by-{column.replace('_', '-')}",
        alt=says,
        defined_by=[("phone_calls", column), (MART, "calls"), (MART, "answered_calls")],
        behind=_calls(direction, "true", **{column: column}),
    )
