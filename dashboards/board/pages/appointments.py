"""Appointments by the day of the visit: kept, canceled and missed ones, and how they were booked."""

import polars as pl

from board import charts
from board.behind import Behind
from board.figures import compared, figures
from board.parts import draw_chart, enough, part
from board.scope import IN_PERIOD, WHOLE_WEEKS
from board.view import View
from board.words import label

MART = "appointments_daily"
VISITS = """(
    select * replace (booking_date_local::date as day),
           date_diff('day', appointments.day, booking_date_local::date) as lead_days
    from marts.appointments
)"""
"""Appointments by the day of the visit, not of the booking."""
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
    select {COUNTS}, count(*) filter (where attendance in ('kept', 'no_show')) as due
    from {VISITS} where {IN_PERIOD}
"""
AHEAD = """
    case when lead_days <= 0 then 'Same day' when lead_days <= 2 then '1 to 2 days'
         when lead_days <= 7 then '3 to 7 days' when lead_days <= 14 then '8 to 14 days'
         when lead_days <= 28 then '15 to 28 days' else 'Over 28 days' end
"""
BY = {
    "booked_via": ("By way of booking", "way of booking", "booked_via", "appointments desc, booked_via"),
    "booked_ahead": ("By days booked ahead", "days booked ahead", AHEAD, "min(lead_days)"),
    "client_type": ("New and existing clients", "type of client", "client_type", "appointments desc, client_type"),
}
"""By column the title of the part, the column in words, its values, and their order."""
PRACTICES = f"""
    select practice_id, {SHARES} from {VISITS} where {IN_PERIOD}
    group by practice_id order by no_show_share desc nulls last
"""
WEEKS = f"""
    select date_trunc('week', day)::date as week, {SHARES} from {VISITS} where {WHOLE_WEEKS}
    group by week order by week
"""
DEFINED = [(MART, name) for name in ("appointments", "kept", "canceled", "no_show", "open")]


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _totals(view)
    for column, (title, words, sql, order) in BY.items():
        with part(title):
            table = view.ask(
                f"select {sql} as {column}, {SHARES} from {VISITS} where {IN_PERIOD} group by 1 order by {order}"
            )
            _missed(view, table, column, sql, f"Visits missed without a word, by {words}")
    if len(view.scope.practices) > 1:
        with part("By practice"):
            table = view.named(view.ask(PRACTICES))
            says = "Visits missed without a word by practice, the largest share first"
            _missed(view, table, "practice", "practice_id", says)
    with part("Week by week"):
        table = view.ask(WEEKS)
        long = charts.by_measure(table, "week", ["kept", "canceled", "no_show"], "visits were", "appointments")
        draw_chart(
            view,
            table,
            charts.over_time(long, "week", "appointments", "visits were"),
            name="visits-weeks",
            alt="Appointments by the week of the visit: kept, canceled, and missed without a word",
            defined_by=DEFINED,
            behind=Behind(
                VISITS,
                WHOLE_WEEKS,
                {"week": "date_trunc('week', day)::date"},
                step="visits were",
                steps={label(name): f"attendance = '{name}'" for name in ("kept", "canceled", "no_show")},
            ),
            weekly=True,
        )


def _missed(view: View, table: pl.DataFrame, column: str, sql: str, says: str) -> None:
    """Draw the share of visits that were missed without a word; `sql` has the value of the column."""
    drawn = enough(view, table, "appointments")
    is_practice = column == "practice"
    drawn = view.short(drawn) if is_practice else charts.worded(drawn, column)
    draw_chart(
        view,
        table,
        charts.bars(drawn, "no_show_share", column, share=True) if drawn.height else None,
        name="visits-by-practice" if is_practice else f"visits-{column.replace('_', '-')}",
        alt=says,
        defined_by=[("appointments", "attendance"), *DEFINED],
        behind=Behind(VISITS, f"{IN_PERIOD} and attendance = 'no_show'", {column: sql}),
    )


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
