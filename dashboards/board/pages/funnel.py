"""Where online bookings are lost: by source, by stage, week by week."""

import polars as pl
import streamlit as st

from board import charts
from board.parts import Figure, View, figures, part, shown
from board.scope import IN_PERIOD, WHOLE_WEEKS
from board.words import named

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
    """The page."""
    with part():
        _totals(view)
    with part("Where sessions come from"):
        _by(view)
    with part("Where sessions end"):
        _stages(view)
    with part("Week by week"):
        table = view.file.ask(WEEKS, **view.scope.parameters)
        shown(
            *(view, table, charts.over_time(table, "week", "completion_rate", share=True)),
            name="funnel-weeks",
            says="Share of online sessions that are completed, by week",
            defined_by=[("booking_funnel_daily", "completion_rate"), *MEASURED],
        )


def _totals(view: View) -> None:
    now = view.file.ask(TOTALS, **view.scope.parameters).row(0, named=True)
    old = view.file.ask(TOTALS, **view.scope.earlier).row(0, named=True)
    sessions, before = now["sessions"] or 0, old["sessions"]
    mart = "booking_funnel_daily"
    figures(
        view,
        [
            Figure("Sessions", (mart, "sessions"), sessions, None, before, better="neither", of="begun online"),
            Figure(
                *(
                    "Completed",
                    (mart, "completion_rate"),
                    now["completed"] or 0,
                    sessions,
                    old["completed"],
                    before,
                ),
                of="sessions",
            ),
            Figure(
                *("Abandoned", (mart, "abandoned"), now["abandoned"] or 0, sessions, old["abandoned"], before),
                better="less",
                of="sessions",
            ),
            Figure(
                "Still open",
                (mart, "active"),
                now["active"] or 0,
                None,
                old["active"],
                better="neither",
                of="not ended yet",
            ),
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
    table = view.file.ask(
        f"select {columns}, {MEASURES} from marts.booking_funnel_daily where {IN_PERIOD} "
        f"group by {columns} order by sessions desc, {columns} limit 200",
        **view.scope.parameters,
    )
    label = pl.concat_str(
        [pl.col(name).map_elements(named, pl.String, skip_nulls=False) for name in BY[chosen or "Source"]],
        separator=", ",
    )
    long = (
        table.head(15)
        .select(label.alias("from"), "completed", "abandoned", "active")
        .unpivot(index="from", variable_name="ended", value_name="sessions")
    )
    shown(
        *(view, table, charts.bars(long, "sessions", "from", colour="ended")),
        name="funnel-by",
        says="Online sessions by where they come from: completed, abandoned and active ones",
        defined_by=[*MEASURED, ("booking_funnel_daily", "completion_rate")],
    )


def _stages(view: View) -> None:
    table = view.file.ask(STAGES, **view.scope.parameters)
    placed = table.filter(pl.col("position").is_not_null())
    if placed.is_empty() and not table.is_empty():
        st.info("The order of the stages is not known yet: vetl learns it from sessions that it sees move on.")
        chart = charts.bars(table, "left_here", "stage")
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
