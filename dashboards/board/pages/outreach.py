"""What AI outreach achieved: outcomes by purpose, what held it back, how long it took, who opted out."""

import polars as pl
import streamlit as st

from board import charts
from board.parts import Figure, View, figures, part, shown
from board.scope import IN_PERIOD, WHOLE_WEEKS
from board.words import named

MART = "outreach_outcomes_daily"
WITHIN = f"{IN_PERIOD} and ($channel is null or channel = $channel)"
MEASURES = """
    sum(requests)::bigint as requests, sum(contacted)::bigint as contacted, sum(booked)::bigint as booked,
    sum(opted_out)::bigint as opted_out, sum(no_response)::bigint as no_response,
    sum(undeliverable)::bigint as undeliverable, sum(suppressed)::bigint as suppressed,
    sum(failed_undispatched)::bigint as failed_undispatched, sum(open)::bigint as open,
    sum(booked) / nullif(sum(contacted), 0) as booked_rate,
    sum(opted_out) / nullif(sum(contacted), 0) as opted_out_rate
"""
TOTALS = f"select {MEASURES} from marts.{MART} where {WITHIN}"
PURPOSES = (
    f"select purpose, {MEASURES} from marts.{MART} where {WITHIN} group by purpose order by requests desc, purpose"
)
COHORTS = f"""
    select date_trunc('week', day)::date as week, {MEASURES}, bool_and(is_mature) as is_mature
    from marts.{MART} where {WHOLE_WEEKS} and ($channel is null or channel = $channel) group by week order by week
"""
SUPPRESSED = f"""
    select suppression_reason, sum(requests)::bigint as requests
    from marts.outreach_suppressions_daily where {IN_PERIOD}
    group by suppression_reason order by requests desc, suppression_reason
"""
TIMES = f"""
    select purpose, count(hours_to_contact) as contacted, median(hours_to_contact) as median_hours_to_contact,
           count(hours_to_outcome) as ended, median(hours_to_outcome) as median_hours_to_outcome
    from marts.outreach_requests where {WITHIN} group by purpose order by contacted desc, purpose
"""
OUTCOMES = ("booked", "no_response", "opted_out", "undeliverable", "suppressed", "failed_undispatched", "open")


def draw(view: View) -> None:
    """The page."""
    asked = {**view.scope.parameters, "channel": view.scope.channel}
    with part():
        _totals(view)
    with part("What came of it, by purpose"):
        _purposes(view, view.file.ask(PURPOSES, **asked))
    with part("Week by week"):
        table = view.file.ask(COHORTS, **asked)
        shown(
            *(view, table, charts.over_time(table, "week", "booked_rate", share=True)),
            name="outreach-weeks",
            says="Share of contacted clients who booked, by the week in which the request was made",
            defined_by=[(MART, "booked_rate"), (MART, "is_mature")],
        )
        if not table.is_empty() and not table.get_column("is_mature").all():
            st.caption("Weeks that are not mature may still change: their requests can be open for four days.")
    with part("What held it back"):
        if view.scope.channel:
            st.caption("Of all channels: a suppressed request is counted by its reason, not by its channel.")
        table = view.file.ask(SUPPRESSED, **view.scope.parameters)
        labelled = table.with_columns(
            pl.col("suppression_reason").map_elements(named, pl.String, skip_nulls=False)
        )
        shown(
            *(view, table, charts.bars(labelled, "requests", "suppression_reason")),
            name="suppressions",
            says="Suppressed requests by reason, the most frequent first",
            defined_by=[("outreach_suppressions_daily", name) for name in ("requests", "suppression_reason")],
        )
    with part("How long it takes"):
        table = view.file.ask(TIMES, **asked)
        labelled = table.with_columns(pl.col("purpose").map_elements(named, pl.String, skip_nulls=False))
        shown(
            *(view, table, charts.bars(labelled, "median_hours_to_outcome", "purpose")),
            name="outreach-times",
            says="Median hours from a request to its outcome, by purpose",
            defined_by=[(MART, "median_hours_to_contact"), (MART, "median_hours_to_outcome")],
        )


def _totals(view: View) -> None:
    channel = view.scope.channel
    now = view.file.ask(TOTALS, **view.scope.parameters, channel=channel).row(0, named=True)
    old = view.file.ask(TOTALS, **view.scope.earlier, channel=channel).row(0, named=True)
    requests, contacted = now["requests"] or 0, now["contacted"] or 0

    def of_contacted(label: str, column: str, name: str, *, less: bool = False) -> Figure:
        part_of, before = now[name] or 0, old[name]
        return Figure(
            *(label, (MART, column), part_of, contacted, before, old["contacted"]),
            better="less" if less else "more",
            of="contacted",
        )

    figures(
        view,
        [
            Figure(
                "Requests", (MART, "requests"), requests, None, old["requests"], better="neither", of="created"
            ),
            Figure(
                *("Contacted", (MART, "contacted"), contacted, requests, old["contacted"], old["requests"]),
                of="requests",
            ),
            of_contacted("Booked", "booked_rate", "booked"),
            of_contacted("Opted out", "opted_out", "opted_out", less=True),
        ],
    )


def _purposes(view: View, table: pl.DataFrame) -> None:
    long = (
        table.select(pl.col("purpose").map_elements(named, pl.String, skip_nulls=False), *OUTCOMES)
        .unpivot(index="purpose", variable_name="came to", value_name="requests")
        .with_columns(pl.col("came to").str.replace_all("_", " "))
    )
    shown(
        *(view, table, charts.bars(long, "requests", "purpose", colour="came to")),
        name="outreach-purposes",
        says="Outreach requests by purpose and by what came of them",
        defined_by=[(MART, name) for name in ("requests", "contacted", *OUTCOMES)],
    )
