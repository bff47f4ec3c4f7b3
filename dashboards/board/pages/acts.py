"""Acting: the last plan, the ends of vetl's tasks, and the booked share beside that of the requests left alone."""

import polars as pl
import streamlit as st
from vetl.core.significance import difference_interval, is_significant

from board import charts
from board.audit import note_people
from board.parts import draw_chart, draw_definitions, draw_list, draw_table, part
from board.plan import read_plan
from board.scope import CHOSEN, IN_PERIOD, WHOLE_WEEKS
from board.view import View

DAILY = "acts_daily"
EFFECT = f"""
    select practice_id, sum(acts)::bigint as acts, sum(acts_booked)::bigint as acts_booked,
           sum(held_out)::bigint as held_out, sum(held_out_booked)::bigint as held_out_booked
    from marts.{DAILY} where {CHOSEN} and is_mature group by practice_id order by acts desc, practice_id
"""
ENDS = f"""
    select case when state in ('asking', 'unknown') then 'not known yet' when state = 'made' then
                coalesce('task ' || task_status, 'made, not read yet') else state end as became, count(*) as acts
    from marts.acts where {IN_PERIOD} and not holdout group by became order by acts desc, became
"""
WEEKS = f"""
    select date_trunc('week', day)::date as week, sum(acts)::bigint as acts, sum(held_out)::bigint as held_out
    from marts.{DAILY} where {WHOLE_WEEKS} group by week order by week
"""
ANY = f"select count(*) from marts.{DAILY} where {CHOSEN}"
Difference = tuple[float | None, float | None, float | None]
COUNTED = ("acts", "acts_booked", "held_out", "held_out_booked")


def draw(view: View) -> None:
    """Draw the parts for which there is something: a plan, and acts."""
    with part():
        _plan(view)
    with part():
        if not view.ask(ANY).item():
            return
        st.header("What it brings", anchor=False)
        _effect(view)
    with part("What became of the acts"):
        table = view.ask(ENDS)
        draw_chart(
            view,
            table,
            charts.bars(table, "acts", "became") if len(table) else None,
            name="acts-ends",
            alt="Acts planned in the period, by what became of them",
            defined_by=[("acts", "state"), ("acts", "task_status")],
        )
    with part("Week by week"):
        table = view.ask(WEEKS)
        long = charts.by_measure(table, "week", ["acts", "held_out"], "requests were", "requests")
        draw_chart(
            view,
            table,
            charts.over_time(long, "week", "requests", "requests were"),
            name="acts-weeks",
            alt="Booking requests by the week of the plan: acted on, and left alone to compare with",
            defined_by=[(DAILY, "acts"), (DAILY, "held_out")],
            weekly=True,
        )


def _plan(view: View) -> None:
    """Show the acts of the last plan in their words, and how many requests are held back."""
    plan = read_plan(view.file.path, tuple(practice.id for practice in view.scope.chosen))
    if plan is None:
        return
    st.header("Staff tasks by vetl: the last plan", anchor=False)
    count = view.words.count(len(plan.acts), "act", "acts")
    st.markdown(f"**{count}** by the plan of {view.words.moment(plan.planned_at)} UTC, digest `{plan.digest}`.")
    note_people(view.config.audit, view.user, "call-back", plan.acts, named=True)
    draw_table(charts.worded(view.named(plan.acts), "kind"), "Acts of the last plan, the most urgent first")
    if len(plan.held_back):
        st.caption("Booking requests that are held back, by reason (docs/act.md).")
        draw_table(charts.worded(plan.held_back, "reason"), "Booking requests that are held back, by reason")
    st.caption("Whoever runs vetl applies it by its digest, unless the plan no longer fits the data.")


def _effect(view: View) -> None:
    """Compare those acted on with those left alone, of all plans that are older than 14 days."""
    table = view.named(view.ask(EFFECT))
    if table.is_empty():
        st.info("No plan is older than 14 days yet.")
        return
    acts, booked, left, left_booked = (int(table.get_column(name).sum()) for name in COUNTED)
    st.markdown(comparison_text(view, acts, booked, left, left_booked))
    rows = [_compared(*row) for row in table.select(COUNTED).iter_rows()]
    differences = pl.DataFrame(
        rows, dict.fromkeys(("difference_share", "low_share", "high_share"), pl.Float64), orient="row"
    )
    table = pl.concat([table, differences], how="horizontal")
    draw_list(table, "Booked within 14 days, acted on and left alone, by practice", "acts-difference")
    with st.expander("What it counts"):
        draw_definitions(view, [(DAILY, "acts_booked_rate"), (DAILY, "held_out")])


def comparison_text(view: View, acts: int, booked: int, left: int, left_booked: int) -> str:
    """Return the comparison in two sentences: a difference with its interval, and no claim."""
    words = view.words
    first = (
        f"Of {words.count(acts, 'request', 'requests')} acted on more than 14 days ago, "
        f"**{words.percent(booked / acts if acts else None)}** booked within 14 days; of "
        f"{words.number(left)} left alone, **{words.percent(left_booked / left if left else None)}**."
    )
    difference, low, high = _compared(acts, booked, left, left_booked)
    if difference is None:
        return f"{first} Without requests of both kinds there is nothing to compare."
    chance = "" if is_significant((low or 0, high or 0)) else " It may be chance."
    return (
        f"{first} The difference of {words.points(difference)} lies between {words.points(low or 0)} and "
        f"{words.points(high or 0)} (95 times of 100).{chance}"
    )


def _compared(acts: int, booked: int, left: int, left_booked: int) -> Difference:
    """Return the difference of the booked shares and both ends of its interval."""
    if not acts or not left:
        return None, None, None
    return (booked / acts - left_booked / left, *difference_interval(booked, acts, left_booked, left))
