"""What is looked at: the counts of the marts as days, which direction of each costs people, the line about a fact.

A measure is a share (`some` of `whole`) or a count (`some`, without a whole). `{value}` and `{usual}` in its words
are the level and the usual one.

The name of a part, such as a source of bookings, comes from outside. It is said only if it is a single word
without digits; parts that few people share are not even looked at.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from vetl.core.published_file import COMMON_WORDS
from vetl.core.text import day_words, is_label
from vetl.headlines.surprise import Fact, Numbers

Direction = Literal["low", "high"]


class CountedList(NamedTuple):
    """A list, whose days after its certificate are not judged, and a word for its cases."""

    name: str
    cases: str


_CALLS = CountedList("phone_calls", "calls")


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure.

    Attributes:
        worse: The direction that costs people.
        words: What is so, after the practice and the time.
        is_share: Whether it is a share; else a count by day.
        least: The smallest change that is worth a line: of a share in points, of a count as a part of it.
        of_part_of: The measure of which this one is a part: a fact of the part says more than one of the whole.
        of: The list that is counted.
    """

    worse: Direction
    words: str
    is_share: bool = True
    least: float = 0.08
    of_part_of: str | None = None
    of: CountedList = _CALLS


_ONLINE = CountedList("booking_sessions", "sessions")
_OUTREACH = CountedList("ai_outbound", "clients")
_VISITS = CountedList("appointments", "visits")
_TASKS = CountedList("staff_tasks", "tasks")

MEASURES: Mapping[str, Measure] = {
    "answered": Measure("low", "{value} of calls in opening hours are answered; usual are {usual}"),
    "calls": Measure("low", "{value} calls a day come; usual are {usual}", is_share=False, least=0.4),
    "handed_over": Measure(
        "high", "{value} of answered calls are handed over instead of settled; usual are {usual}"
    ),
    "after_hours": Measure("high", "{value} of calls come when the practice is closed; usual are {usual}"),
    "emergency_lost": Measure("high", "{value} of emergency calls end without help; usual are {usual}"),
    "call_booked": Measure(
        "low", "{value} of callers for a new appointment book it in the call; usual are {usual}", least=0.1
    ),
    "sessions": Measure(
        "low", "{value} online bookings a day are begun; usual are {usual}", is_share=False, least=0.4, of=_ONLINE
    ),
    "completed": Measure("low", "{value} of online bookings are completed; usual are {usual}", of=_ONLINE),
    "step_left": Measure(
        "high",
        "{value} of online bookings are left at {part}; usual are {usual}",
        of_part_of="completed",
        of=_ONLINE,
    ),
    "source": Measure(
        "low", "{value} of online bookings come from {part}; usual are {usual}", least=0.04, of=_ONLINE
    ),
    "outreach": Measure(
        "low",
        "{value} clients a day are contacted by outreach; usual are {usual}",
        is_share=False,
        least=0.5,
        of=_OUTREACH,
    ),
    "purpose": Measure(
        "low",
        "{value} outreach requests a day are about {part}; usual are {usual}",
        is_share=False,
        least=0.7,
        of_part_of="outreach",
        of=_OUTREACH,
    ),
    "opted_out": Measure(
        "high", "{value} of contacted clients opt out; usual are {usual}", least=0.05, of=_OUTREACH
    ),
    "no_show": Measure(
        "high", "{value} of visits are missed by the client; usual are {usual}", least=0.05, of=_VISITS
    ),
    "task_done": Measure("low", "{value} of staff tasks are done within three days; usual are {usual}", of=_TASKS),
}
"""The measures by name. Those with parts have a series for each part."""

BY_HOUR = ("answered", "calls")
"""The measures whose hours are looked at: a telephone line fails for a morning."""

BY_WEEKDAY = ("answered", "no_show")
"""The measures of which one weekday may differ from the others."""


_WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")
_PARTS = {"source": "one source", "step_left": "one step", "purpose": "one purpose"}


def words_of(fact: Fact, practice: str) -> str:
    """Return the line of a fact: the practice, since when, and its level beside the usual one."""
    measure = MEASURES[fact.measure]
    if fact.shape == "hours":
        return f"{practice}: {_hours(fact)}"
    level = measure.words.format(
        value=_amount(fact.value, is_share=measure.is_share),
        usual=_amount(fact.usual, is_share=measure.is_share),
        part=_part(fact),
    )
    if fact.weekday is not None:
        level = level.replace("usual are", "on other days")
        return f"{practice}: on {_WEEKDAYS[fact.weekday]} {level} (since {day_words(fact.since)})"
    return f"{practice}: since {day_words(fact.since)} {level}"


def made_of(fact: Fact) -> str:
    """Return the cases behind a fact."""
    measure = MEASURES[fact.measure]
    if measure.is_share:
        return f"{fact.some:,.0f} of {fact.whole:,.0f} {measure.of.cases}"
    return f"{fact.some:,.0f} {measure.of.cases}, {fact.whole:,.0f} expected"


def _hours(fact: Fact) -> str:
    assert fact.hours is not None
    when = f"on {day_words(fact.since)} from {fact.hours[0]}:00 to {fact.hours[1]}:00"
    if fact.measure == "calls":
        return f"{when} {fact.some:.0f} calls came; usual are {fact.usual:.0f}"
    unanswered, usual = fact.whole - fact.some, (1 - fact.usual) * fact.whole
    return f"{when} {unanswered:.0f} of {fact.whole:.0f} calls were unanswered; usual are {usual:.0f}"


def _part(fact: Fact) -> str:
    part = fact.part or ""
    if part.lower() in COMMON_WORDS or is_label(part):
        return part.replace("_", " ")
    return _PARTS.get(fact.measure, "one part")


def _amount(value: float, *, is_share: bool) -> str:
    if not is_share:
        return f"{value:.0f}" if value >= 10 else f"{value:.1f}"  # noqa: PLR2004
    percent = 100 * value
    return f"{percent:.0f}%" if percent >= 10 or percent == 0 else f"{percent:.1f}%"  # noqa: PLR2004


Key = tuple[str, str | None]
"""A measure and its part."""

Counts = pl.DataFrame
"""`practice_id`, `measure`, `part`, `day`, `hour`, `some`, `whole`: counts of the marts, by hour for `BY_HOUR`.

The measures `visits` and `work` (sessions, outreach, tasks, calls that were made) have no facts of their own: a
day with hardly any of one of them says that the practice was closed.
"""

HOURS = 24
_CLOSED = 0.3
_FEWEST = 4.0
_NEAR = 56


@dataclass(frozen=True, slots=True)
class Days:
    """The days of a practice from `first` on, each a place in the arrays.

    Attributes:
        shares: `some` and `whole` of each series by day.
        hours: The same by day and hour, of the measures `BY_HOUR`.
        weekday: 0 is Monday.
        is_closed: Days that are no example and are not judged.
        ends: The place after the last certified day of each list; without one, today.
    """

    practice_id: str
    first: date
    shares: Mapping[Key, tuple[Numbers, Numbers]]
    hours: Mapping[str, tuple[Numbers, Numbers]]
    weekday: np.ndarray
    is_closed: np.ndarray
    ends: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def today(self) -> int:
        """Return the place of the last day, which is not over."""
        return len(self.weekday) - 1

    def day(self, place: int) -> date:
        """Return the date at a place."""
        return self.first + timedelta(days=place)

    def end(self, list_name: str) -> int:
        """Return the place after the last day that can be judged."""
        return min(self.ends.get(list_name, self.today), self.today)


def days_of(
    counts: Counts,
    today: Mapping[str, date],
    holidays: Mapping[str, Collection[date]],
    certified: Mapping[tuple[str, str], date | None],
) -> Iterator[Days]:
    """Yield the days of each practice through its `today`.

    `holidays` are those that are set; `certified` has the last certified day of each practice and list.
    """
    for practice_id, last in sorted(today.items()):
        own = counts.filter((pl.col("practice_id") == practice_id) & (pl.col("day") <= last))
        if own.is_empty():
            continue
        first = own["day"].min()
        assert isinstance(first, date)
        length = (last - first).days + 1
        weekday = (np.arange(length) + first.weekday()) % 7
        shares, hours = _arrays(own, first, length)
        closed = _closed(shares.pop(("visits", None), None), weekday) | _closed(
            shares.pop(("work", None), None), weekday
        )
        for day in holidays.get(practice_id, ()):
            if first <= day <= last:
                closed[(day - first).days] = True
        ends = {
            list_name: (through - first).days + 1 if through else 0
            for (practice, list_name), through in certified.items()
            if practice == practice_id
        }
        yield Days(practice_id, first, shares, hours, weekday, closed, ends)


def _arrays(
    own: Counts, first: date, length: int
) -> tuple[dict[Key, tuple[Numbers, Numbers]], dict[str, tuple[Numbers, Numbers]]]:
    shares: dict[Key, tuple[Numbers, Numbers]] = {}
    hours: dict[str, tuple[Numbers, Numbers]] = {}
    placed = own.with_columns(place=(pl.col("day") - first).dt.total_days())
    for (measure, part), rows in placed.group_by("measure", "part", maintain_order=True):
        place = rows["place"].to_numpy()
        some, whole = np.zeros(length), np.zeros(length)
        np.add.at(some, place, rows["some"].to_numpy())
        np.add.at(whole, place, rows["whole"].to_numpy())
        shares[str(measure), None if part is None else str(part)] = some, whole
        if measure in BY_HOUR:
            hour = rows["hour"].to_numpy()
            some, whole = np.zeros((length, HOURS)), np.zeros((length, HOURS))
            np.add.at(some, (place, hour), rows["some"].to_numpy())
            np.add.at(whole, (place, hour), rows["whole"].to_numpy())
            hours[str(measure)] = some, whole
    return shares, hours


def _closed(counts: tuple[Numbers, Numbers] | None, weekday: np.ndarray) -> np.ndarray:
    """Return the days with far fewer cases than the same weekday around them: nobody worked."""
    closed = np.zeros(len(weekday), dtype=bool)
    if counts is None:
        return closed
    for number in range(7):
        at = np.flatnonzero(weekday == number)
        counted = counts[0][at]
        for place, count in zip(at, counted, strict=True):
            near = counted[np.abs(at - place) <= _NEAR]
            usual = float(np.median(near))
            closed[place] = usual >= _FEWEST and count <= _CLOSED * usual
    return closed
