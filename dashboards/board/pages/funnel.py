"""Lost online bookings: by source, by stage, week by week."""

import polars as pl
import streamlit as st

from board import charts
from board.parts import View, compared, figures, part, shown
from board.scope import IN_PERIOD, WHOLE_WEEKS

TOTALS = f"""
    select sum(sessions)::bigint as sessions, sum(completed)::bigint as completed,
           sum(abandoned)::bigint as abandoned, sum(active)::bigint as active
    from marts.booking_funnel_daily where {IN_PERIOD}
"""
MEASURES = """
    sum(sessions)::bigint as sessions, sum(completed)::bigint as completed, sum(abandoned)::bigint as abandoned,
    sum(active)::bigint as active, sum(completed) / nullif(sum(sessions), 0) as completion_rate
"""
BY = {
    "Source": ("referral_source",),
    "Campaign": ("referral_campaign", "referral_medium"),
    "New or existing client": ("client_type",),
}
STAGES = f"""
    select stage, min(position) as position, sum(sessions)::bigint as left_here, sum(reached)::bigint as reached,
           sum(continued)::bigint as continued, 1 - sum(continued) / nullif(sum(reached), 0) as drop_off_rate
    from marts.booking_funnel_stages where {IN_PERIOD}
    group by stage order by position nulls last, left_here desc
"""
WEEKS = f"""
    select date_trunc('week', day)::date as week, {MEASURES}
    from marts.booking_funnel_daily where {WHOLE_WEEKS} group by week order by week
"""
MEASURED = [("booking_funnel_daily", name) for name in ("sessions", "completed", "abandoned", "active")]


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _totals(view)
    with part("Where sessions come from"):
        _by(view)
    with part("Where sessions end"):
        _stages(view)
    with part("Week by week"):
        table = view.ask(WEEKS)
        shown(
            *(view, table, charts.over_time(table, "week", "completion_rate", share=True)),
            name="funnel-weeks",
            says="Share of online sessions that are completed, by week",
            defined_by=[("booking_funnel_daily", "completion_rate"), *MEASURED],
        )


def _totals(view: View) -> None:
    sums = compared(view, "booking_funnel_daily", TOTALS)
    figures(
        view,
        [
            sums.count("Sessions", "sessions", "begun online"),
            sums.share("Completed", "completed", "sessions", "sessions", by="completion_rate"),
            sums.share("Abandoned", "abandoned", "sessions", "sessions", better="less"),
            sums.count("Still open", "active", "not ended yet"),
        ],
    )


def _by(view: View) -> None:
    chosen = st.segmented_control(
        "By",
        list(BY),
        default="Source",
        required=True,
        key="by",
        bind="query-params",
        label_visibility="collapsed",
    )
    columns = ", ".join(BY[chosen or "Source"])
    table = view.ask(
        f"select {columns}, {MEASURES} from marts.booking_funnel_daily where {IN_PERIOD} "
        f"group by {columns} order by sessions desc, {columns} limit 200"
    )
    places = BY[chosen or "Source"]
    first = charts.worded(table.head(15), *places).with_columns(
        pl.concat_str(places, separator=", ").alias("from")
    )
    long = charts.by_measure(first, "from", ["completed", "abandoned", "active"], "ended", "sessions")
    shown(
        *(view, table, charts.bars(long, "sessions", "from", colour="ended")),
        name="funnel-by",
        says="Online sessions by where they come from: completed, abandoned and active ones",
        defined_by=[*MEASURED, ("booking_funnel_daily", "completion_rate")],
    )


def _stages(view: View) -> None:
    table = view.ask(STAGES)
    placed = charts.worded(table, "stage").filter(pl.col("position").is_not_null())
    if placed.is_empty() and not table.is_empty():
        st.info("The order of the stages is not known yet: vetl learns it from sessions that it sees move on.")
        chart = charts.bars(charts.worded(table, "stage"), "left_here", "stage")
    else:
        chart = charts.bars(placed, "reached", "stage")
    shown(
        *(view, table, chart),
        name="funnel-stages",
        says="Online sessions that reached each stage, in the order of the stages",
        defined_by=[
            ("booking_funnel_stages", name) for name in ("sessions", "reached", "continued", "drop_off_rate")
        ],
    )
