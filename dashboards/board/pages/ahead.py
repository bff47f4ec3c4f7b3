"""The week ahead and the four after it: visits booked, beside the visits booked by this time in earlier weeks."""

import polars as pl
import streamlit as st

from board import charts
from board.behind import Behind
from board.parts import draw_chart, part
from board.scope import CHOSEN
from board.view import View

WEEKS = ("Next 7 days", "8 to 14 days", "15 to 21 days", "22 to 28 days", "29 to 35 days")
_EARLIER = 8
_CLOCKS = f"""
    clocks as (
        select practice_id, today, as_of_local,
               least({_EARLIER}, (today - history_start - 28) // 7) as earlier_weeks
        from marts.practices where {CHOSEN} and today >= (select max(today) - 1 from marts.practices)
    )
"""
"""Each practice's own day and time, without those of practices that were not read for days."""
BOOKED = f"""
    with {_CLOCKS}, visits as (
        select (booking_date_local::date - today) // 7 as weeks, booked_via, attendance
        from marts.appointments join clocks using (practice_id)
        where booking_date_local::date between today and today + 34
    )
    select weeks, booked_via, count(*) filter (where attendance <> 'canceled') as visits_booked,
           count(*) filter (where attendance = 'canceled') as canceled
    from visits group by all order by weeks, visits_booked desc, booked_via
"""
_NAMED = " ".join(f"when {number} then '{week}'" for number, week in enumerate(WEEKS))
AHEAD = f"""(
    with {_CLOCKS}
    select appointments.*, case (booking_date_local::date - today) // 7 {_NAMED} end as weeks_ahead
    from marts.appointments join clocks using (practice_id)
    where booking_date_local::date between today and today + 34
)"""
USUAL = f"""
    with {_CLOCKS}, earlier as (
        select practice_id, earlier_weeks, (booking_date_local::date - (today - 7 * ago)) // 7 as weeks
        from marts.appointments join clocks using (practice_id), (
            select ago::integer as ago from range(1, {_EARLIER + 1}) as before(ago)
        )
        where ago <= earlier_weeks and booking_date_local::date between today - 7 * ago and today - 7 * ago + 34
              and created_at_local <= as_of_local - to_days(7 * ago)
    )
    select weeks, sum(usual) as usually_booked from (
        select practice_id, weeks, count(*) / any_value(earlier_weeks) as usual from earlier group by all
    ) group by weeks
"""
"""The mean of the weeks before, of the appointments that were made by the same time: canceled ones as well."""


def draw(view: View) -> None:
    """Draw this part of the page; the period in the sidebar does not matter to it."""
    with part("The weeks ahead"):
        by_way = view.ask(BOOKED)
        table = _weeks(by_way, view.ask(USUAL))
        if table.is_empty():
            st.info("No visit is booked for the next five weeks.")
            return
        _sentence(view, table)
        drawn = charts.worded(_named(by_way), "booked_via").select("weeks_ahead", "booked_via", "visits_booked")
        draw_chart(
            view,
            table,
            charts.bars(drawn, "visits_booked", "weeks_ahead", colour="booked_via"),
            name="weeks-ahead",
            alt="Visits booked for the next five weeks, by way of booking",
            defined_by=[("appointments", "attendance"), ("appointments", "booked_via")],
            behind=Behind(
                AHEAD, "attendance <> 'canceled'", {"weeks_ahead": "weeks_ahead", "booked_via": "booked_via"}
            ),
        )


def _named(table: pl.DataFrame) -> pl.DataFrame:
    words = pl.col("weeks").replace_strict(dict(enumerate(WEEKS)), return_dtype=pl.String)
    return table.with_columns(words.alias("weeks_ahead"))


def _weeks(by_way: pl.DataFrame, usual: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each week: visits, canceled ones, all that were made, and how many usually were by now."""
    sums = by_way.group_by("weeks").agg(pl.col("visits_booked", "canceled").sum()).sort("weeks")
    made = sums.with_columns((pl.col("visits_booked") + pl.col("canceled")).alias("made_by_now"))
    named = _named(made.join(usual.with_columns(pl.col("usually_booked").round(0)), on="weeks", how="left"))
    return named.select("weeks_ahead", "visits_booked", "canceled", "made_by_now", "usually_booked")


def _sentence(view: View, table: pl.DataFrame) -> None:
    words, week = view.words, table.row(0, named=True)
    booked = words.count(week["visits_booked"], "visit is", "visits are")
    lines = [f"**{booked} booked** for the {week['weeks_ahead'].lower()}."]
    if week["usually_booked"]:
        lines.append(
            f"{words.number(week['made_by_now'])} were made by now, canceled ones included; "
            f"{words.number(week['usually_booked'])} usually are."
        )
    st.markdown(f"{' '.join(lines)} Days are each practice's own, from today.")
