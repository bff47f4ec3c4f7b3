"""Appointments by the day of the visit: kept, canceled and missed ones, and how they were booked."""

import streamlit as st

from board import charts
from board.behind import Behind
from board.figures import compared, figures
from board.parts import View, draw_chart, enough, part
from board.scope import WHOLE_WEEKS_NOTE
from board.words import label

MART = "appointments_daily"
VISITS = """
    select *, booking_date_local::date as visit_day, date_diff('day', day, booking_date_local::date) as lead_days
    from marts.appointments
    where practice_id in (select unnest($practices)) and booking_date_local >= $since
          and booking_date_local < $until::date + 1
"""
COUNTS = """
    count(*) as appointments, count(*) filter (where attendance = 'kept') as kept,
    count(*) filter (where attendance = 'canceled') as canceled,
    count(*) filter (where attendance = 'no_show') as no_show,
    count(*) filter (where attendance = 'open') as open
"""
SHARES = f"""
    {COUNTS}, count(*) filter (where attendance = 'kept') / count(*) as kept_share,
    count(*) filter (where attendance = 'canceled') / count(*) as canceled_share,
    count(*) filter (where attendance = 'no_show')
        / nullif(count(*) filter (where attendance in ('kept', 'no_show')), 0) as no_show_share
"""
TOTALS = f"""
    select {COUNTS}, count(*) filter (where attendance in ('kept', 'no_show')) as due from ({VISITS})
"""
BOOKED_VIA = (
    f"select booked_via, {SHARES} from ({VISITS}) group by booked_via order by appointments desc, booked_via"
)
CLIENTS = (
    f"select client_type, {SHARES} from ({VISITS}) group by client_type order by appointments desc, client_type"
)
AHEAD = """
    case when lead_days <= 0 then 'Same day' when lead_days <= 2 then '1 to 2 days'
         when lead_days <= 7 then '3 to 7 days' when lead_days <= 14 then '8 to 14 days'
         when lead_days <= 28 then '15 to 28 days' else 'Over 28 days' end
"""
LEAD = f"""
    select {AHEAD} as booked_ahead, {SHARES} from ({VISITS}) group by booked_ahead order by min(lead_days)
"""
PRACTICES = (
    f"select practice_id, {SHARES} from ({VISITS}) group by practice_id order by no_show_share desc nulls last"
)
WEEKS = f"""
    select date_trunc('week', visit_day)::date as week, {SHARES} from ({VISITS})
    where date_trunc('week', visit_day) + interval 6 day <= $until and date_trunc('week', visit_day) >= $since
    group by week order by week
"""
DEFINED = [(MART, name) for name in ("appointments", "kept", "canceled", "no_show", "open")]


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _totals(view)
    for title, sql, column, says in (
        ("By way of booking", BOOKED_VIA, "booked_via", "Visits missed without a word, by way of booking"),
        ("By days booked ahead", LEAD, "booked_ahead", "Visits missed without a word, by days booked ahead"),
        ("New and existing clients", CLIENTS, "client_type", "Visits missed without a word, by type of client"),
    ):
        with part(title):
            table = view.ask(sql)
            drawn = charts.worded(enough(view, table, "appointments"), column)
            draw_chart(
                view,
                table,
                charts.bars(drawn, "no_show_share", column, share=True) if drawn.height else None,
                name=f"visits-{column.replace('_', '-')}",
                alt=says,
                defined_by=[("appointments", "attendance"), *DEFINED],
                behind=_missed(**{column: AHEAD if column == "booked_ahead" else column}),
            )
    if len(view.scope.practices) > 1:
        with part("By practice"):
            table = view.named(view.ask(PRACTICES))
            drawn = view.short(enough(view, table, "appointments"))
            draw_chart(
                view,
                table,
                charts.bars(drawn, "no_show_share", "practice", share=True) if drawn.height else None,
                name="visits-by-practice",
                alt="Visits missed without a word by practice, the largest share first",
                defined_by=[("appointments", "attendance"), *DEFINED],
                behind=_missed(practice="practice_id"),
            )
    with part("Week by week"):
        table = view.ask(WEEKS)
        st.caption(WHOLE_WEEKS_NOTE)
        long = charts.by_measure(table, "week", ["kept", "canceled", "no_show"], "visits were", "appointments")
        draw_chart(
            view,
            table,
            charts.over_time(long, "week", "appointments", "visits were"),
            name="visits-weeks",
            alt="Appointments by the week of the visit: kept, canceled, and missed without a word",
            defined_by=DEFINED,
            behind=Behind(
                f"({VISITS})",
                "true",
                {"week": "date_trunc('week', visit_day)::date"},
                step="visits were",
                steps={label(name): f"attendance = '{name}'" for name in ("kept", "canceled", "no_show")},
            ),
        )


def _missed(**by: str) -> Behind:
    """Return the visits that were missed without a word."""
    return Behind(f"({VISITS})", "attendance = 'no_show'", by)


def _totals(view: View) -> None:
    sums = compared(view, MART, TOTALS)
    figures(
        view,
        [
            sums.count("Visits", "appointments", "by day of the visit"),
            sums.share("Kept", "kept", "appointments", "appointments"),
            sums.share("Canceled", "canceled", "appointments", "appointments", better="less"),
            sums.share("No-show rate", "no_show", "due", "visits kept or missed", better="less"),
            sums.count("No result yet", "open", "visits that are over", better="less"),
        ],
    )
