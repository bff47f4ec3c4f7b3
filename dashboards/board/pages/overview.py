"""The figures of a Monday morning, the practices beside each other, and whom to call back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import polars as pl
import streamlit as st

from board import charts
from board.address import pick_at_once
from board.behind import Behind
from board.figures import compared, figures
from board.freshness import NAMED_AT_MOST
from board.pages.call_back import people_to_call
from board.parts import draw_chart, part
from board.scope import CALLER_DAYS, CHOSEN, IN_PERIOD, WHOLE_WEEKS, closed
from board.scorecard import (
    BY_KEY,
    MEASURES,
    Score,
    figure,
    largest_change,
    matrix,
    of_measure,
    outliers,
    scores,
)
from board.thresholds import out_now
from board.view import View
from board.words import label, plain

REQUESTS = f"""
    select coalesce(sum(not_booked - anonymous_not_booked), 0)::bigint as people,
           coalesce(sum(anonymous_not_booked), 0)::bigint as anonymous
    from marts.booking_requests_daily where {IN_PERIOD} and {closed("request")} and begun_by = 'client'
"""
WEEKS = """
    select week, sum(new_booking_callers)::bigint as new_booking_callers,
           sum(booked_within_7_days)::bigint as booked_within_7_days,
           sum(sessions)::bigint as sessions, sum(completed)::bigint as completed
    from marts.practice_weekly
    where practice_id in (select unnest($practices))
          and week between date_trunc('week', $since::date) and date_trunc('week', $until::date + 1)::date - 7
    group by week order by week
"""
SPARK = """
    select week, sum(answered_inbound_calls) as answered, sum(inbound_calls) as calls,
           sum(booked_within_7_days) as callers, sum(new_booking_callers) as wanted, sum(completed) as completed,
           sum(sessions) as sessions, sum(booked) as booked, sum(contacted) as contacted,
           sum(leaks - anonymous_not_booked) as people, sum(anonymous_not_booked) as anonymous
    from marts.practice_weekly
    where practice_id in (select unnest($practices))
          and week between $through::date - 7 * 13 - 6 and $through::date - 6
    group by week order by week
"""
"""The counts of the figures by week, of the 13 weeks that are over."""
HEADLINES = f"""
    select measure, words, people, practice_id from marts.headlines
    where {CHOSEN} and rank is not null order by rank limit 5
"""
PAGE_OF = {
    "sessions": "online-booking",
    "completed": "online-booking",
    "step_left": "online-booking",
    "source": "online-booking",
    "outreach": "outreach",
    "purpose": "outreach",
    "opted_out": "outreach",
    "no_show": "appointments",
    "task_done": "tasks",
    "": "phones",
}
"""The page of a headline by the beginning of its measure; all others are about calls."""
MOST_SENTENCES = 5
"""Outliers in words: more than these nobody reads."""


def draw(view: View) -> None:
    """Draw the page."""
    found: list[Score] = []
    with part():
        _headlines(view)
    with part():
        _thresholds(view)
        found = scores(view)
        _figures(view, found)
    with part():
        _sentences(view, found)
    if found and len(view.scope.practices) > 1:
        with part("Practices"):
            _scorecard(view, found)
    with part("Week by week"):
        _weeks(view)


def _headlines(view: View) -> None:
    """Say what is unusual now, the costliest first, each with a link to its page."""
    news = view.ask(HEADLINES)
    if news.is_empty():
        st.markdown("**Nothing is unusual** at these practices, beside their own earlier weeks.")
    for measure, words, people, practice in news.iter_rows():
        said, link = st.columns([5, 1], vertical_alignment="center")
        cost = view.words.count(people, "person", "people")
        said.markdown(f"**{plain(words)}.** It cost about {cost}.")
        name = next(page for start, page in PAGE_OF.items() if measure.startswith(start))
        link.page_link(st.session_state.pages[name], label="Look at it", query_params={"practice": practice})


def _figures(view: View, found: Sequence[Score]) -> None:
    requests = compared(view, "booking_requests_daily", REQUESTS)
    not_booked: dict[str, Any] = {"better": "less", "by": "not_booked", "window": "request"}
    tiles = {
        ("answered", "calls"): figure(view, found, "answered", "inbound calls"),
        ("callers", "wanted"): figure(view, found, "callers", "callers, each once a day"),
        ("completed", "sessions"): figure(view, found, "online", "sessions"),
        ("booked", "contacted"): figure(view, found, "outreach", "contacted"),
        ("people", None): requests.count("People not booked", "people", "known people", **not_booked),
        ("anonymous", None): requests.count("Visitors left", "anonymous", "unknown online", **not_booked),
    }
    weeks = view.ask(SPARK, {"through": view.scope.read_through})
    figures(view, [replace(tile, weeks=_weekly(view, weeks, *of, tile.window)) for of, tile in tiles.items()])
    st.caption(
        "A caller who calls on two days counts on both. Visitors who left the online booking are unknown unless "
        "they book, so they are no people to compare with callers."
    )


def _weekly(view: View, weeks: pl.DataFrame, some: str, whole: str | None, window: str | None) -> list[float]:
    """Return the values by week, up to the last week that changes no more."""
    closed = view.scope.read_through - timedelta(days=view.scope.windows[window] + 6 if window else 6)
    of = pl.when(pl.col(whole) > 0).then(pl.col(whole).cast(pl.Float64)) if whole else 1
    value = pl.col(some).cast(pl.Float64) / of
    return weeks.filter(pl.col("week") <= closed).select(value.drop_nulls()).to_series().to_list()


def _thresholds(view: View) -> None:
    """Name the chosen practices that are outside of a threshold of `[watch]` now, and since when."""
    chosen = {practice.id for practice in view.scope.chosen}
    out = [episode for episode in out_now(view.config.watch, view.file) if episode.practice_id in chosen]
    for episode in out[:NAMED_AT_MOST]:
        line = episode.line.partition(", out since")[0]
        st.warning(f"{plain(line)}; out since {view.words.day(episode.began)}", icon=":material/notifications:")
    if len(out) > NAMED_AT_MOST:
        st.caption(f"{view.words.number(len(out) - NAMED_AT_MOST)} more are outside of a threshold.")


def _sentences(view: View, found: Sequence[Score]) -> None:
    people, change = people_to_call(view), largest_change(view, found)
    if change:
        st.markdown(change)
    if people:
        st.page_link(
            st.session_state.pages["call-back"],
            label=f"**{view.words.count(people, 'person', 'people')} to call back** now, the most urgent first",
            icon=":material/phone_callback:",
        )


def _scorecard(view: View, found: Sequence[Score]) -> None:
    said = outliers(view, found)
    if said:
        lines = said[:MOST_SENTENCES]
        if len(said) > MOST_SENTENCES:
            lines.append(f"and {view.words.number(len(said) - MOST_SENTENCES)} more: see *Stands out*")
        st.markdown("Different from the others by more than chance:\n" + "".join(f"\n- {line}" for line in lines))
    else:
        st.markdown("No practice differs from the others by more than chance.")
    table = matrix(found)
    draw_chart(
        view,
        table,
        None,
        name="practices",
        alt="Practices by figure, and in which figure each stands out",
        defined_by=[measure.defined_by for measure in MEASURES],
    )
    key = pick_at_once("figure", "Figure", {name: one.label for name, one in BY_KEY.items()}, usual="callers")
    of_one = of_measure(found, key)
    some, whole = (sum(score.now[which] for score in found if score.measure.key == key) for which in (0, 1))
    draw_chart(
        view,
        of_one,
        charts.intervals(view.short(of_one), "practice", some / whole if whole else None),
        name="practices-by-figure",
        alt=f"{BY_KEY[key].label} by practice, with a line for how sure it is; the dashed line is all practices",
        defined_by=[BY_KEY[key].defined_by],
    )


def _weeks(view: View) -> None:
    booked_until = view.scope.read_through - timedelta(days=CALLER_DAYS)
    booked = pl.when(pl.col("week") + timedelta(days=6) <= booked_until).then("booked_within_7_days")
    table = view.ask(WEEKS).with_columns(booked.alias("booked_within_7_days"))
    steps = ["new_booking_callers", "booked_within_7_days", "sessions", "completed"]
    long = charts.by_measure(table, "week", steps, "measure", "callers and sessions")
    st.caption("Callers booked end with the last week that is 7 days old.")
    draw_chart(
        view,
        table,
        charts.over_time(long, "week", "callers and sessions", "measure"),
        name="weeks",
        alt="Callers who wanted an appointment, those booked, online sessions and completed ones, by week",
        defined_by=[("practice_weekly", column) for column in (*steps, "is_final")],
        behind=Behind(
            "marts.booking_sessions",
            WHOLE_WEEKS,
            {"week": "date_trunc('week', day)::date"},
            step="measure",
            steps={label("sessions"): "true", label("completed"): "status = 'completed'"},
        ),
        weekly=True,
    )
