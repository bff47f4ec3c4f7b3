"""Counts of the marts as days of a practice."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

import numpy as np
import polars as pl

from vetl.headlines.measures import BY_HOUR
from vetl.headlines.surprise import Numbers

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

    def through(self, place: int) -> "Days":
        """Return the days as they were known on the morning of the day at this place."""
        end = place + 1
        return Days(
            self.practice_id,
            self.first,
            {key: (some[:end], whole[:end]) for key, (some, whole) in self.shares.items()},
            {key: (some[:end], whole[:end]) for key, (some, whole) in self.hours.items()},
            self.weekday[:end],
            self.is_closed[:end],
        )


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
