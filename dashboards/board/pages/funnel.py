"""Lost online bookings: by source, by stage, week by week."""

import polars as pl
import streamlit as st

from board import charts
from board.address import pick_at_once
from board.behind import Behind
from board.figures import compared, figures
from board.parts import draw_chart, enough, part
from board.scope import IN_PERIOD, WHOLE_WEEKS
from board.view import View
from board.words import plain

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
    "source": ("Source", ("referral_source",)),
    "campaign": ("Campaign", ("referral_campaign", "referral_medium")),
    "client": ("New or existing client", ("client_type",)),
}
MOST_BARS = 15
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
    with part("How many complete it, by where they come from"):
        _by(view)
    with part("Where they leave"):
        _stages(view)
    with part("Week by week"):
        table = view.ask(WEEKS)
        draw_chart(
            view,
            table,
            charts.over_time(table, "week", "completion_rate", share=True),
            name="funnel-weeks",
            alt="Share of online sessions that are completed, by week",
            defined_by=[("booking_funnel_daily", "completion_rate"), *MEASURED],
            behind=Behind("marts.booking_sessions", WHOLE_WEEKS, {"week": "date_trunc('week', day)::date"}),
            weekly=True,
        )


def _totals(view: View) -> None:
    sums = compared(view, "booking_funnel_daily", TOTALS)
    figures(
        view,
        [
            sums.count("Sessions", "sessions", "begun online"),
            sums.share("Online, completed", "completed", "sessions", "sessions", by="completion_rate"),
            sums.share("Abandoned", "abandoned", "sessions", "sessions", better="less"),
            sums.count("Still open", "active", "not ended yet"),
        ],
    )


def _by(view: View) -> None:
    chosen = pick_at_once("by", "By", {key: title for key, (title, _) in BY.items()}, usual="source")
    places = BY[chosen][1]
    columns = ", ".join(places)
    table = view.ask(
        f"select {columns}, {MEASURES} from marts.booking_funnel_daily where {IN_PERIOD} "
        f"group by {columns} order by sessions desc, {columns} limit 200"
    )
    first = charts.worded(enough(view, table, "sessions").head(MOST_BARS), *places).with_columns(
        pl.concat_str(places, separator=", ").alias("from")
    )
    chart = charts.bars(first, "completion_rate", "from", share=True) if first.height else None
    draw_chart(
        view,
        table,
        chart,
        name="funnel-by",
        alt="Share of online sessions that are completed, by where they come from, the most sessions first",
        defined_by=[*MEASURED, ("booking_funnel_daily", "completion_rate")],
        behind=Behind("marts.booking_sessions", IN_PERIOD, {place: place for place in places}),
    )


def _stages(view: View) -> None:
    table = view.ask(STAGES)
    placed = charts.worded(table, "stage").filter(pl.col("position").is_not_null())
    if placed.is_empty() and not table.is_empty():
        st.info("The order of the steps is not set here, so nothing says at which one people leave.")
        chart = charts.bars(charts.worded(table, "stage"), "left_here", "stage")
    else:
        long = placed.with_columns((pl.col("reached") - pl.col("continued")).alias("left_here"))
        steps = charts.by_measure(long, "stage", ["continued", "left_here"], "then", "sessions")
        chart = charts.bars(steps, "sessions", "stage", colour="then")
        worst = (
            placed.sort("drop_off_rate", descending=True, nulls_last=True).row(0, named=True)
            if placed.height
            else None
        )
        if worst and worst["drop_off_rate"] is not None:
            st.markdown(
                f"**Most leave at \u201c{plain(worst['stage'])}\u201d**: "
                f"{view.words.percent(worst['drop_off_rate'])} of the "
                f"{view.words.number(worst['reached'])} that reached it."
            )
    draw_chart(
        view,
        table,
        chart,
        name="funnel-stages",
        alt="Online sessions that reached each stage, by those that went on and those that left there",
        defined_by=[
            ("booking_funnel_stages", name) for name in ("sessions", "reached", "continued", "drop_off_rate")
        ],
    )
