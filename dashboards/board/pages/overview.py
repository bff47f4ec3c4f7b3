"""Five numbers for a Monday morning, and the largest losses."""

import streamlit as st

from board import charts
from board.parts import View, compared, figures, part, shown
from board.scope import IN_PERIOD
from board.words import FEW, named

FIVE = f"""
    select sum(new_booking_callers)::bigint as wanted, sum(booked_within_7_days)::bigint as got,
           sum(missed_callers)::bigint as missed, sum(recovered_within_7_days)::bigint as recovered,
           sum(sessions)::bigint as sessions, sum(completed)::bigint as completed,
           sum(contacted)::bigint as contacted, sum(booked)::bigint as booked,
           sum(leaks)::bigint as leaks, count(distinct day) filter (where not is_final) as not_final
    from marts.practice_daily where {IN_PERIOD}
"""
DEMAND = f"""
    select first_channel, sum(episodes)::bigint as episodes,
           sum(booked_within_1_day)::bigint as booked_within_1_day,
           sum(booked_within_7_days)::bigint as booked_within_7_days,
           sum(booked_within_14_days)::bigint as booked_within_14_days,
           sum(kept)::bigint as kept, sum(leaked)::bigint as leaked,
           sum(leaked) / nullif(sum(episodes), 0) as leaked_share
    from marts.demand_daily
    where {IN_PERIOD} and begun_by = 'client' and ($channel is null or first_channel = $channel)
    group by first_channel order by leaked desc, first_channel
"""
WHERE_MOST_IS_LOST = f"""
    select practice_id, first_channel, sum(leaked)::bigint as leaked, sum(episodes)::bigint as episodes
    from marts.demand_daily
    where {IN_PERIOD} and begun_by = 'client' and ($channel is null or first_channel = $channel)
    group by practice_id, first_channel having sum(leaked) > 0
    order by leaked desc, practice_id, first_channel limit 1
"""
WEEKS = """
    select week, sum(calls)::bigint as calls, sum(missed_callers)::bigint as missed_callers,
           sum(recovered_within_7_days)::bigint as recovered_within_7_days,
           sum(sessions)::bigint as sessions, sum(completed)::bigint as completed,
           sum(leaks)::bigint as leaks, bool_and(is_final) as is_final
    from marts.practice_weekly
    where practice_id in (select unnest($practices))
          and week between date_trunc('week', $since::date) and date_trunc('week', $until::date + 1)::date - 7
    group by week order by week
"""
TO_CALL_BACK = """
    select count(*) from marts.leak_list
    where practice_id in (select unnest($practices)) and ($channel is null or channel = $channel)
"""
BY_PRACTICE = f"""
    select practices.name as practice, sum(new_booking_callers)::bigint as new_booking_callers,
           sum(booked_within_7_days)::bigint as booked_within_7_days,
           sum(booked_within_7_days) / nullif(sum(new_booking_callers), 0) as booked_share,
           sum(sessions)::bigint as sessions, sum(completed)::bigint as completed,
           sum(completed) / nullif(sum(sessions), 0) as completion_rate, sum(leaks)::bigint as leaks
    from marts.practice_daily join marts.practices using (practice_id)
    where {IN_PERIOD} group by practice_id, practices.name order by leaks desc, practice
"""


def draw(view: View) -> None:
    """Draw the page."""
    with part():
        _five(view)
    with part():
        _biggest_leak(view)
    with part("What became of those who wanted an appointment"):
        _demand(view)
    with part("Week by week"):
        _weeks(view)
    if len(view.scope.practices) > 1:
        with part("Practices"):
            table = view.ask(BY_PRACTICE)
            columns = ("new_booking_callers", "booked_within_7_days", "completed", "leaks")
            shown(
                *(view, table, charts.bars(table, "leaks", "practice")),
                name="practices",
                says="Wishes for an appointment that were not booked, by practice",
                defined_by=[("practice_daily", column) for column in columns],
            )


def _five(view: View) -> None:
    sums = compared(view, "practice_daily", FIVE)
    figures(
        view,
        [
            sums.share("Callers booked", "got", "wanted", "within 7 days", by="booked_within_7_days"),
            sums.share("Missed, won back", "recovered", "missed", "callers", by="recovered_within_7_days"),
            sums.share("Online, completed", "completed", "sessions", "sessions"),
            sums.share("Outreach, booked", "booked", "contacted", "contacted"),
            sums.count("Wishes not booked", "leaks", "by calls and online", better="less"),
        ],
    )
    if view.scope.has_before:
        st.caption(f"Compared with {view.words.days(*view.scope.before)}.")
    else:
        st.caption("There is no earlier period to compare with.")
    if sums.now["not_final"]:
        days = view.words.number(sums.now["not_final"])
        st.caption(f"{days} of these days are not final yet: who was missed may still be booked.")


def _biggest_leak(view: View) -> None:
    scope, words = view.scope, view.words
    worst = view.ask(WHERE_MOST_IS_LOST)
    if worst.is_empty():
        st.info("Nobody who wanted an appointment went without one in this period.")
        return
    practice_id, channel, leaked, episodes = worst.row(0)
    name = next(practice.name for practice in scope.practices if practice.id == practice_id)
    share = words.percent(leaked / episodes)
    few = " These are few: the share says little." if episodes < FEW else ""
    st.markdown(
        f"**The biggest leak: {_begun(channel)} at {name}**: of {words.number(episodes)} wishes for an "
        f"appointment that began there, {words.number(leaked)} are not booked ({share}).{few}"
    )
    people = view.ask(TO_CALL_BACK).item()
    if people:
        st.markdown(
            f"**{words.number(people)} to call back** now: the page Leaks lists them, the most urgent first."
        )


def _begun(channel: str | None) -> str:
    phrases = {"call": "phone calls", "session": "online booking", "task": "staff tasks", "outreach": "outreach"}
    return phrases.get(channel or "", named(channel))


def _demand(view: View) -> None:
    table = view.ask(DEMAND)
    steps = ["episodes", "booked_within_14_days", "kept", "leaked"]
    worded = charts.worded(table, "first_channel")
    long = charts.by_measure(worded, "first_channel", steps, "step", "wishes")
    shown(
        *(view, table, charts.grouped_bars(long, "wishes", "first_channel", "step")),
        name="demand",
        says="Wishes for an appointment by first channel: all, booked within 14 days, kept, not booked",
        defined_by=[("demand_daily", column) for column in (*steps, "booked_within_1_day", "is_mature")],
    )


def _weeks(view: View) -> None:
    table = view.ask(WEEKS)
    steps = ["missed_callers", "recovered_within_7_days", "sessions", "completed", "leaks"]
    long = charts.by_measure(table, "week", steps, "measure", "people and sessions")
    shown(
        *(view, table, charts.over_time(long, "week", "people and sessions", "measure")),
        name="weeks",
        says="Missed callers, those won back, online sessions, completed ones and wishes not booked, by week",
        defined_by=[("practice_weekly", column) for column in (*steps, "is_final")],
    )
