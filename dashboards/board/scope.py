"""The scope of a page: practices, days, the days before, and one channel; all of it is in the address."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import streamlit as st

from board.published import Published
from board.words import Words, named

PERIODS = {"Last 7 days": 7, "Last 28 days": 28, "Last 90 days": 90, "Last 365 days": 365}
USUAL = "Last 28 days"
OWN_DAYS = "Own days"
CLOCKS_AT_MOST, NAMED_AT_MOST = 20, 3
IN_PERIOD = "practice_id in (select unnest($practices)) and day between $since and $until"


WHOLE_WEEKS = """
    practice_id in (select unnest($practices))
    and day between date_trunc('week', $since::date) and date_trunc('week', $until::date + 1)::date - 1
"""
"""Weeks that are over, from the week in which the period begins: part of a week would look like a fall."""

WHOLE_WEEKS_SAID = "Whole weeks, named by their Monday."


@dataclass(frozen=True, slots=True)
class Practice:
    """A practice of the file: its days are those of its own clock."""

    id: str
    name: str
    group: str | None
    time_zone: str
    history_start: date
    as_of_local: datetime | None
    today: date


@dataclass(frozen=True, slots=True)
class Scope:
    """Days with both ends included. `before` is the same number of days just before; none without history."""

    practices: tuple[Practice, ...]
    since: date
    until: date
    has_before: bool
    channel: str | None

    @property
    def before(self) -> tuple[date, date]:
        """The period before this one, for comparison."""
        return self.since - (self.until - self.since) - timedelta(days=1), self.since - timedelta(days=1)

    @property
    def read_until(self) -> datetime | None:
        """The day until which data is read, by the clock of the practice that is furthest behind."""
        return min((practice.as_of_local for practice in self.practices if practice.as_of_local), default=None)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of `IN_PERIOD`."""
        return {**self.place, "since": self.since, "until": self.until}

    @property
    def earlier(self) -> dict[str, Any]:
        """The parameters of `IN_PERIOD` for the period before."""
        return {**self.place, "since": self.before[0], "until": self.before[1]}

    @property
    def place(self) -> dict[str, Any]:
        """The parameter of practices alone, for tables without days."""
        return {"practices": [practice.id for practice in self.practices]}


def choose(file: Published, words: Words, channels: Sequence[str]) -> Scope:
    """Draw the filters in the sidebar. An address with their values opens the same view; no choice means all."""
    every = _practices(file)
    if not every:
        st.info("There is no practice in this file yet: `vetl run` reads the first.")
        st.stop()
    with st.sidebar:
        within = _chosen_practices(every)
        until = min(practice.today for practice in within) - timedelta(days=1)
        first = min(practice.history_start for practice in every)
        since, until = _period(first, until, words)
        channel = None
        if channels:
            options = list(channels)
            channel = st.selectbox(
                "Channel", options, None, named, key="channel", placeholder="All", bind="query-params"
            )
        _clocks(within, words)
    length = (until - since).days + 1
    has_before = since - timedelta(days=length) >= min(practice.history_start for practice in within)
    return Scope(tuple(within), since, until, has_before, channel)


def said(scope: Scope, words: Words) -> str:
    """Return the scope in a line: paper and phones do not show the filters."""
    names = [practice.name for practice in scope.practices]
    more = len(names) - NAMED_AT_MOST
    where = ", ".join(names[:NAMED_AT_MOST]) + (f" and {words.number(more)} more" if more > 0 else "")
    channel = f" \u00b7 {named(scope.channel)} only" if scope.channel else ""
    return f"{words.days(scope.since, scope.until)} \u00b7 {where}{channel}"


def _practices(file: Published) -> list[Practice]:
    rows = file.ask(
        """select practice_id, name, group_name, time_zone, history_start, as_of_local, today
           from marts.practices order by name, practice_id"""
    )
    return [Practice(*row) for row in rows.iter_rows()]


def _chosen_practices(every: Sequence[Practice]) -> list[Practice]:
    groups = sorted({practice.group for practice in every if practice.group})
    group = None
    if groups:
        group = st.selectbox("Group", groups, None, key="group", placeholder="All", bind="query-params")
    within = [practice for practice in every if group in {None, practice.group}]
    names = _names(within)
    chosen = st.multiselect(
        "Practice",
        list(names),
        key="practice",
        placeholder="All",
        bind="query-params",
        format_func=names.__getitem__,
    )
    return [practice for practice in within if practice.id in chosen] or within


def _names(practices: Sequence[Practice]) -> Mapping[str, str]:
    """Return names by id; if two practices have one name, with the id."""
    names = [practice.name for practice in practices]
    return {item.id: f"{item.name} ({item.id})" if names.count(item.name) > 1 else item.name for item in practices}


def _period(first: date, yesterday: date, words: Words) -> tuple[date, date]:
    """Choose days that are over. The address has the period, for own days both ends."""
    usual = list(PERIODS).index(USUAL)
    chosen = st.selectbox("Period", [*PERIODS, OWN_DAYS], usual, key="period", bind="query-params")
    until = max(first, yesterday)
    since = max(first, until - timedelta(days=PERIODS.get(chosen, 28) - 1))
    if chosen == OWN_DAYS:
        since = st.date_input("From", since, first, until, key="from", bind="query-params", format="YYYY-MM-DD")
        until = st.date_input("To", until, since, until, key="to", bind="query-params", format="YYYY-MM-DD")
    st.caption(words.days(since, until))
    return since, until


def _clocks(practices: Sequence[Practice], words: Words) -> None:
    """Return one clock for each practice: no hour on these pages is that of the reader's machine."""
    with st.expander("Clocks and freshness"):
        st.caption("Days and hours are each practice's own.")
        for practice in practices[:CLOCKS_AT_MOST]:
            read = words.moment(practice.as_of_local)
            st.markdown(f"**{practice.name}**  \n{practice.time_zone}, read until {read}")
        if len(practices) > CLOCKS_AT_MOST:
            st.caption(f"and {words.number(len(practices) - CLOCKS_AT_MOST)} more: see Data health")
