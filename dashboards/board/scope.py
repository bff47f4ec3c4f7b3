"""The scope of a page: practices, days, and the days before; all of it is in the address."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any

import streamlit as st

from board.address import pick, pick_day, pick_several
from board.freshness import NAMED_AT_MOST, Practice, comparable, practices_of
from board.published import Published
from board.words import Words, plain

LENGTHS = {"7": 7, "28": 28, "90": 90, "365": 365}
USUAL = "28"
OWN_DAYS = "own"
PERIODS = {
    **{name: f"Last {days} days" for name, days in LENGTHS.items()},
    "week": "Last week",
    "month": "This month",
    "last_month": "Last month",
    "year": "This year",
    "last_year": "Last year",
    OWN_DAYS: "Own days",
}
CLOCKS_AT_MOST = 20
IN_PERIOD = "practice_id in (select unnest($practices)) and day between $since and $until"
CHOSEN = "practice_id in (select unnest($chosen))"
"""All chosen practices, those that are behind among them: for lists of work and of proof."""

WHOLE_WEEKS = """
    practice_id in (select unnest($practices))
    and day between date_trunc('week', $since::date) and date_trunc('week', $until::date + 1)::date - 1
"""
"""Weeks that are over, from the week in which the period begins: part of a week would look like a fall."""

CALLER_DAYS = 7
"""The marts look for the booking of a caller for so many days (`booked_within_7_days`)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Days with both ends included. `before` is the same number of days just before.

    `chosen` are all chosen practices, `practices` those of them that are read about equally far. `lasting` are
    those of them whose history covers the period before: a group grows if a practice joins it, and that is no
    change. `windows` are the days after which a figure changes no more, by the name of the figure's window.
    """

    chosen: tuple[Practice, ...]
    practices: tuple[Practice, ...]
    since: date
    until: date
    read_through: date
    windows: MappingProxyType[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def days(self) -> int:
        """The number of days."""
        return (self.until - self.since).days + 1

    @property
    def before(self) -> tuple[date, date]:
        """The period before this one, for comparison."""
        return self.since - timedelta(days=self.days), self.since - timedelta(days=1)

    @property
    def lasting(self) -> tuple[Practice, ...]:
        """The practices that are in the period before as well."""
        return tuple(practice for practice in self.practices if practice.history_start <= self.before[0])

    @property
    def complete_until(self) -> datetime | None:
        """The time until which the data is proven, by the clock of the practice that is furthest behind."""
        return min(
            (practice.complete_until for practice in self.practices if practice.complete_until), default=None
        )

    def closed_days(self, window: str) -> int:
        """Return how many days of the period are so old that their figures change no more by themselves."""
        closed_until = min(self.until, self.read_through - timedelta(days=self.windows[window]))
        return max((closed_until - self.since).days + 1, 0)

    def parameters(self, *, before: bool = False, lasting: bool = False) -> dict[str, Any]:
        """Return the parameters of `IN_PERIOD`, of `closed` and of `CHOSEN`."""
        since, until = self.before if before else (self.since, self.until)
        days: dict[str, Any] = {"since": since, "until": until}
        for window in self.windows:
            closed = self.closed_days(window)
            # On both sides equally many days: the first ones of the period, and the last ones before it.
            first = self.since - timedelta(days=closed) if before else self.since
            days |= {f"{window}_since": first, f"{window}_until": first + timedelta(days=closed - 1)}
        within = self.lasting if lasting else self.practices
        return {
            **days,
            "practices": [practice.id for practice in within],
            "chosen": [practice.id for practice in self.chosen],
        }


def closed(window: str) -> str:
    """Return the SQL condition for the days of the period whose window has closed."""
    return f"day between ${window}_since and ${window}_until"


def choose(file: Published, words: Words, lists: Sequence[str]) -> Scope:
    """Draw the filters in the sidebar. An address with their values opens the same view; no choice means all."""
    every = practices_of(file, lists)
    if not every:
        st.info("There is no practice in this file yet: `vetl run` reads the first.")
        st.stop()
    with st.sidebar:
        chosen = _chosen_practices(every)
        compared = comparable(chosen)
        read_through = min(practice.last_day for practice in compared)
        first = min(practice.history_start for practice in compared)
        since, until = _period(first, max(first, read_through), words)
        _clocks(chosen, words, shows_proof=bool(lists))
    return Scope(tuple(chosen), tuple(compared), since, until, read_through, _windows(file))


def scope_line(scope: Scope, words: Words) -> str:
    """Return the scope in a line: paper and phones do not show the filters."""
    names = [plain(practice.name) for practice in scope.practices]
    more = len(names) - NAMED_AT_MOST
    where = ", ".join(names[:NAMED_AT_MOST]) + (f" and {words.number(more)} more" if more > 0 else "")
    return f"{words.days(scope.since, scope.until)} \u00b7 {where}"


def _windows(file: Published) -> MappingProxyType[str, int]:
    """Return the days until figures are final: of callers, of outreach, and of booking requests."""
    request = max(file.setting("lost_after_days", 14), file.setting("booking_window_days", 14))
    outreach = -(-file.setting("mature_after_hours", 96) // 24)
    return MappingProxyType({"caller": CALLER_DAYS, "outreach": outreach, "request": request})


def _chosen_practices(every: Sequence[Practice]) -> list[Practice]:
    groups = sorted({practice.group for practice in every if practice.group})
    group = pick("group", "Group", {name: name for name in groups}) if groups else None
    within = [practice for practice in every if group in {None, practice.group}]
    chosen = pick_several("practice", "Practice", {practice.id: practice.name for practice in within})
    return [practice for practice in within if practice.id in chosen] or within


def _period(first: date, last: date, words: Words) -> tuple[date, date]:
    """Choose days that are over. The address has the period, for own days both ends."""
    name = pick("period", "Period", PERIODS, usual=USUAL) or USUAL
    since, until = ends_of(name, last)
    since, until = min(max(first, since), last), max(until, first)
    if name == OWN_DAYS:
        since = pick_day("from", "From", since, first, last)
        until = pick_day("to", "To", until, since, last)
    st.caption(words.days(since, until))
    return since, until


def ends_of(period: str, last: date) -> tuple[date, date]:
    """Return the first and the last day of a period of `PERIODS`; `last` is the last day that is over."""
    month, year = last.replace(day=1), last.replace(month=1, day=1)
    sunday = last - timedelta(days=(last.weekday() + 1) % 7)
    day = timedelta(days=1)
    named = {
        "week": (sunday - 6 * day, sunday),
        "month": (month, last),
        "last_month": ((month - day).replace(day=1), month - day),
        "year": (year, last),
        "last_year": ((year - day).replace(month=1, day=1), year - day),
    }
    return named.get(period) or (last - timedelta(days=LENGTHS.get(period, LENGTHS[USUAL]) - 1), last)


def _clocks(practices: Sequence[Practice], words: Words, *, shows_proof: bool) -> None:
    """List the clock of each practice: no hour on these pages is that of the reader's machine."""
    with st.expander("Clocks and freshness"):
        st.caption("Days and hours are each practice's own.")
        for practice in practices[:CLOCKS_AT_MOST]:
            read = (
                f", complete until {words.moment(practice.complete_until)}"
                if practice.complete_until
                else ", not read whole yet"
            )
            st.markdown(f"**{plain(practice.name)}**  \n{plain(practice.time_zone)}{read * shows_proof}")
        if len(practices) > CLOCKS_AT_MOST:
            st.caption(f"and {words.number(len(practices) - CLOCKS_AT_MOST)} more: see Data health")
