"""Results of AI outreach: outcomes by purpose, suppressions, durations, opt-outs."""

import streamlit as st

from board import charts
from board.parts import View, by_value, compared, figures, part, shown
from board.scope import IN_PERIOD, WHOLE_WEEKS

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
    """Draw the page."""
    with part():
        _totals(view)
    with part("What came of it, by purpose"):
        _purposes(view)
    with part("Week by week"):
        table = view.ask(COHORTS)
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
        by_value(
            *(view, view.ask(SUPPRESSED), "suppression_reason", "requests"),
            name="suppressions",
            says="Suppressed requests by reason, the most frequent first",
            defined_by=[("outreach_suppressions_daily", name) for name in ("requests", "suppression_reason")],
        )
    with part("How long it takes"):
        by_value(
            *(view, view.ask(TIMES), "purpose", "median_hours_to_outcome"),
            name="outreach-times",
            says="Median hours from a request to its outcome, by purpose",
            defined_by=[(MART, "median_hours_to_contact"), (MART, "median_hours_to_outcome")],
        )


def _totals(view: View) -> None:
    sums = compared(view, MART, TOTALS)
    figures(
        view,
        [
            sums.count("Requests", "requests", "created"),
            sums.share("Contacted", "contacted", "requests", "requests"),
            sums.share("Booked", "booked", "contacted", "contacted", by="booked_rate"),
            sums.share("Opted out", "opted_out", "contacted", "contacted", better="less"),
        ],
    )


def _purposes(view: View) -> None:
    table = view.ask(PURPOSES)
    long = charts.by_measure(charts.worded(table, "purpose"), "purpose", OUTCOMES, "came to", "requests")
    shown(
        *(view, table, charts.bars(long, "requests", "purpose", colour="came to")),
        name="outreach-purposes",
        says="Outreach requests by purpose and by what came of them",
        defined_by=[(MART, name) for name in ("requests", "contacted", *OUTCOMES)],
    )
