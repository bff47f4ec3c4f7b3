"""Results of AI outreach: outcomes by purpose, suppressions, durations, opt-outs."""

from dataclasses import replace

import polars as pl
import streamlit as st

from board import charts
from board.address import pick
from board.behind import Behind
from board.figures import compared, figures
from board.parts import draw_by_value, draw_chart, part
from board.scope import IN_PERIOD, WHOLE_WEEKS, closed
from board.view import View
from board.words import label

MART = "outreach_outcomes_daily"
CHANNELS = {"sms": "Text message", "voice": "Voice"}
BY_CHANNEL = "($channel is null or channel = $channel)"
WITHIN = f"{IN_PERIOD} and {BY_CHANNEL}"
MEASURES = """
    sum(requests)::bigint as requests, sum(contacted)::bigint as contacted, sum(booked)::bigint as booked,
    sum(opted_out)::bigint as opted_out, sum(no_response)::bigint as no_response,
    sum(undeliverable)::bigint as undeliverable, sum(suppressed)::bigint as suppressed,
    sum(failed_undispatched)::bigint as failed_undispatched, sum(open)::bigint as open,
    sum(booked) / nullif(sum(contacted), 0) as booked_rate,
    sum(opted_out) / nullif(sum(contacted), 0) as opted_out_rate
"""
TOTALS = f"""
    select sum(requests)::bigint as requests, sum(contacted)::bigint as contacted,
           sum(contacted) filter (where {closed("outreach")})::bigint as ended,
           sum(booked) filter (where {closed("outreach")})::bigint as booked,
           sum(opted_out) filter (where {closed("outreach")})::bigint as opted_out
    from marts.{MART} where {WITHIN}
"""
PURPOSES = (
    f"select purpose, {MEASURES} from marts.{MART} where {WITHIN} group by purpose order by requests desc, purpose"
)
COHORTS = f"""
    select date_trunc('week', day)::date as week, {MEASURES}, bool_and(is_mature) as is_mature
    from marts.{MART} where {WHOLE_WEEKS} and {BY_CHANNEL} group by week order by week
"""
SUPPRESSED = f"""
    select suppression_reason, count(*) as requests
    from marts.outreach_requests where {WITHIN} and status = 'suppressed'
    group by suppression_reason order by requests desc, suppression_reason
"""
TIMES = f"""
    select purpose, count(hours_to_contact) as contacted, median(hours_to_contact) as median_hours_to_contact,
           count(*) filter (where outcome = 'booked') as booked,
           median(hours_to_outcome) filter (where outcome = 'booked') as median_hours_to_booking
    from marts.outreach_requests where {WITHIN} group by purpose order by contacted desc, purpose
"""
OUTCOMES = ("booked", "no_response", "opted_out", "undeliverable", "suppressed", "failed_undispatched", "open")


def draw(view: View) -> None:
    """Draw the page."""
    channel = pick("channel", "Channel", CHANNELS, width=260)
    with part():
        _totals(view, channel)
    with part("What came of it, by purpose"):
        _purposes(view, channel)
    with part("Week by week"):
        _weeks(view, channel)
    with part("What held it back"):
        draw_by_value(
            view,
            view.ask(SUPPRESSED, {"channel": channel}),
            "suppression_reason",
            "requests",
            name="suppressions",
            alt="Suppressed requests by reason, the most frequent first",
            defined_by=[("outreach_suppressions_daily", name) for name in ("requests", "suppression_reason")],
            behind=_requests(channel, "status = 'suppressed'", suppression_reason="suppression_reason"),
        )
    with part("How long it takes"):
        st.caption("A request without an answer ends by the platform's own timer, which says nothing of clients.")
        draw_by_value(
            view,
            view.ask(TIMES, {"channel": channel}),
            "purpose",
            "median_hours_to_contact",
            name="outreach-times",
            alt="Median hours from a request to its first message, by purpose; the table has those to a booking",
            defined_by=[(MART, "median_hours_to_contact"), (MART, "median_hours_to_outcome")],
            behind=_requests(channel, "hours_to_contact is not null", purpose="purpose"),
        )


def _requests(channel: str | None, where: str, **by: str) -> Behind:
    """Return the requests behind the marks of a chart."""
    within = WHOLE_WEEKS if "week" in by else IN_PERIOD
    return Behind("marts.outreach_requests", f"{within} and {BY_CHANNEL} and {where}", by, {"channel": channel})


def _totals(view: View, channel: str | None) -> None:
    sums = compared(view, MART, TOTALS, {"channel": channel})
    figures(
        view,
        [
            sums.count("Outreach requests", "requests", "created"),
            sums.share("Contacted", "contacted", "requests", "requests"),
            sums.share("Outreach, booked", "booked", "ended", "contacted", by="booked_rate", window="outreach"),
            sums.share("Opted out", "opted_out", "ended", "contacted", better="less", window="outreach"),
        ],
    )


def _purposes(view: View, channel: str | None) -> None:
    table = view.ask(PURPOSES, {"channel": channel})
    long = charts.by_measure(charts.worded(table, "purpose"), "purpose", OUTCOMES, "came to", "requests")
    draw_chart(
        view,
        table,
        charts.bars(long, "requests", "purpose", colour="came to"),
        name="outreach-purposes",
        alt="Outreach requests by purpose and by what came of them",
        defined_by=[(MART, name) for name in ("requests", "contacted", *OUTCOMES)],
        behind=replace(
            _requests(channel, "true", purpose="purpose"),
            step="came to",
            steps={label(name): f"coalesce(outcome, status) = '{name}'" for name in OUTCOMES[:5]},
        ),
    )


def _weeks(view: View, channel: str | None) -> None:
    table = view.ask(COHORTS, {"channel": channel})
    ended = table.filter(pl.col("is_mature"))
    left_out = table.height - ended.height
    if left_out:
        st.caption(f"{view.words.count(left_out, 'week is', 'weeks are')} left out: requests are still open.")
    draw_chart(
        view,
        ended.drop("is_mature"),
        charts.over_time(ended, "week", "booked_rate", share=True),
        name="outreach-weeks",
        alt="Share of contacted clients who booked, by the week in which the request was made",
        defined_by=[(MART, "booked_rate"), (MART, "is_mature")],
        behind=_requests(channel, "is_contacted", week="date_trunc('week', day)::date"),
        weekly=True,
        empty="No week of this period has ended all of its requests.",
    )
