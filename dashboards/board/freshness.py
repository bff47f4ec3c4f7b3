"""The freshness of each practice: its last whole day in the lists of a page, from `meta.proof`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from board.published import MissingError, Published
from board.words import Words, plain

COUNTED_LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")
"""The lists that have a certificate. Clients and patients are read by id, as other lists mention them."""

LATE_DAYS = 2
"""A practice is behind if so many whole days are missing. A read just after midnight misses one."""

NAMED_AT_MOST = 3
_PRACTICES = """
    select practice_id, name, group_name, time_zone, history_start,
           timezone(time_zone, (select max(as_of) from marts.practices)) as clock,
           timezone(time_zone, certified_through) as complete_until
    from marts.practices left join ({ends}) using (practice_id) order by name, practice_id
"""
_ENDS = """
    select practice_id, min(certified_through) as certified_through
    from meta.proof where endpoint in (select unnest($lists)) group by practice_id
"""
_NO_ENDS = "select null::varchar as practice_id, null::timestamptz as certified_through"


@dataclass(frozen=True, slots=True)
class Practice:
    """A practice of the file, with a name of its own. Its days are those of its own clock.

    `clock` is the time of the newest run of all practices, `complete_until` the time until which its lists are
    proven.
    """

    id: str
    name: str
    group: str | None
    time_zone: str
    history_start: date
    clock: datetime | None
    complete_until: datetime | None

    @property
    def yesterday(self) -> date:
        """The last day that is over at this practice."""
        return (self.clock.date() if self.clock else self.history_start) - timedelta(days=1)

    @property
    def last_day(self) -> date:
        """The last day that is over and read whole. Without a certificate nothing says that it is another day."""
        if self.complete_until is None:
            return self.yesterday
        return min(self.complete_until.date() - timedelta(days=1), self.yesterday)

    @property
    def is_behind(self) -> bool:
        """Whether whole days of this practice are missing."""
        return (self.yesterday - self.last_day).days >= LATE_DAYS


def practices_of(file: Published, lists: Sequence[str]) -> list[Practice]:
    """Return the practices of the file. Two of one name have the id beside it."""
    try:
        rows = file.ask(_PRACTICES.format(ends=_ENDS), lists=list(lists))
    except MissingError:
        rows = file.ask(_PRACTICES.format(ends=_NO_ENDS))
    names = rows.get_column("name").to_list()
    return [
        Practice(key, f"{name} ({key})" if names.count(name) > 1 else name, *others)
        for key, name, *others in rows.iter_rows()
    ]


def comparable(practices: Sequence[Practice]) -> list[Practice]:
    """Return the practices that are read about as far as the one that is read furthest."""
    newest = max(practice.last_day for practice in practices)
    return [practice for practice in practices if (newest - practice.last_day).days < LATE_DAYS]


def banner(chosen: Sequence[Practice], compared: Sequence[Practice], words: Words) -> str | None:
    """Return a sentence that names who is behind; `None` if nobody is."""
    behind = [practice for practice in chosen if practice.is_behind]
    if not behind:
        return None
    named = [
        f"**{plain(practice.name)}** (whole days until {words.day(practice.last_day)})"
        for practice in behind[:NAMED_AT_MOST]
    ]
    more = len(behind) - NAMED_AT_MOST
    who = ", ".join(named) + (f" and {words.number(more)} more" if more > 0 else "")
    left_out = [practice for practice in chosen if practice not in compared]
    if left_out:
        then = (
            "Figures and charts leave out who is behind, lists of work and of proof do not. Choose such a "
            "practice alone to see it, in periods that end with its data."
        )
    else:
        then = "The periods of this page end there."
    return f"Behind the newest data: {who}. {then} `vetl status` gives the reason."
