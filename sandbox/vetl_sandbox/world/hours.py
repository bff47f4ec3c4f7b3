"""The real hours of a practice's month, and how busy each is."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from numpy.typing import NDArray

from vetl_sandbox.world.lives import Mask, Millis
from vetl_sandbox.world.practices import Practice

HOUR = 3_600_000
QUARTER = HOUR // 4
DAY = 24 * HOUR
_EPOCH_YEAR = 2000
_EPOCH = date(1970, 1, 1)
_WEEKDAYS = (1.25, 1.05, 1.0, 1.0, 1.15, 0.55, 0.06)
_AT_NIGHT = 0.012
_AROUND_A_CLOCK_CHANGE = 0.09
_SATURDAY, _SUNDAY = 5, 6
_MONTHS_PER_YEAR = 12
_DAYS_PER_YEAR = 365.25
_SPRING = 0.21
"""The share of a year after which the northern season begins to be busier than average."""


Busy = Literal["calls", "sessions", "outreach", "desk"]
"""What a spell of a practice multiplies."""


def month_of(moment: datetime) -> int:
    """Return months since January 2000."""
    return (moment.year - _EPOCH_YEAR) * _MONTHS_PER_YEAR + moment.month - 1


def millis(moment: datetime) -> int:
    """Return milliseconds since 1970 UTC."""
    return int(moment.timestamp() * 1000)


@dataclass(frozen=True)
class Hours:
    """The real hours of one month, twenty-three or twenty-five on the days of a clock change.

    Attributes:
        begins: The instant of each hour's start.
        weight: The share of an average day's business that falls into it.
    """

    begins: Millis
    weight: NDArray[np.float64]


@lru_cache(maxsize=64)
def hours_of(practice: Practice, month: int) -> Hours:
    """Return the hours between two local midnights of a practice's months."""
    first, last = (_local_month(practice, number) for number in (month, month + 1))
    begins = np.arange(first, last, HOUR)
    local = to_local(begins, practice.time_zone)
    weekday, hour = (local // DAY + 3) % 7, local % DAY // HOUR  # the first of January 1970 was a Thursday
    weight = np.where(_is_holiday(local), _AT_NIGHT, _week(practice)[weekday, hour]) * _season(practice, local)
    # Even a small world needs calls in the repeated hour and on both sides of the missing hour.
    for change in np.flatnonzero(np.diff(local - begins)):
        weight[max(change - 1, 0) : change + 3] = _AROUND_A_CLOCK_CHANGE
    return Hours(begins, weight)


def _season(practice: Practice, local: Millis) -> NDArray[np.float64]:
    """Return how busy the season of each local time is: most in early summer, of the practice's hemisphere."""
    phase = (local / DAY % _DAYS_PER_YEAR) / _DAYS_PER_YEAR - _SPRING
    southern = practice.time_zone.startswith("Australia/")
    return 1 + practice.character.season * np.sin(2 * np.pi * (phase + southern / 2))


def _is_holiday(local: Millis) -> Mask:
    """Return whether local times are on Christmas Day or New Year's Day."""
    dates = pl.Series(local).cast(pl.Datetime("ms"))
    ends = (dates.dt.month() == 12) & (dates.dt.day() == 25)  # noqa: PLR2004 - Christmas Day
    return (ends | (dates.dt.ordinal_day() == 1)).to_numpy()


def _local_month(practice: Practice, month: int) -> int:
    year, place = divmod(month, _MONTHS_PER_YEAR)
    return millis(datetime(_EPOCH_YEAR + year, place + 1, 1, tzinfo=practice.zone))


@lru_cache(maxsize=512)
def _week(practice: Practice) -> NDArray[np.float64]:
    """Return each local hour's share of an average day, by weekday and hour."""
    week = np.array([[_of_week(practice, weekday, hour) for hour in range(24)] for weekday in range(7)])
    return week * 7 / week.sum()


def _of_week(practice: Practice, weekday: int, hour: int) -> float:
    if not _open(practice, weekday, hour):
        return _AT_NIGHT
    morning_rush = 1 + 0.6 * np.exp(-((hour - practice.opens - 1.5) ** 2) / 4)
    return _WEEKDAYS[weekday] * morning_rush / (practice.closes - practice.opens)


def _open(practice: Practice, weekday: int, hour: int) -> bool:
    if weekday == _SUNDAY and not practice.open_sunday:
        return False
    closes = min(practice.closes, 13) if weekday == _SATURDAY else practice.closes
    return practice.opens <= hour < closes


def draw_times(practice: Practice, month: int, a_day: float, rng: np.random.Generator, of: Busy) -> Millis:
    """Draw instants in a month, about `a_day` on an average day, in order."""
    hours = hours_of(practice, month)
    counts = rng.poisson(hours.weight * a_day * _spells(practice, hours.begins, of))
    begins = np.repeat(hours.begins, counts)
    return np.sort(begins + rng.integers(0, HOUR, len(begins)))


def _spells(practice: Practice, begins: Millis, of: Busy) -> NDArray[np.float64]:
    """Return by how much the spells of a practice multiply each hour."""
    day = to_local(begins, practice.time_zone) // DAY
    times = np.ones(len(begins))
    for spell in practice.character.spells:
        first, last = ((end - _EPOCH).days for end in (spell.first, spell.last))
        times[(day >= first) & (day <= last)] *= getattr(spell, of)
    return times


def to_local(instants: Millis, zone: str) -> Millis:
    """Return instants as local wall-clock time, in milliseconds as if that were UTC."""
    return instants + _of_quarters(instants, lambda quarter: _offset(quarter, zone))


def to_instant(local: Millis, zone: str) -> Millis:
    """Reverse `to_local`; a repeated hour is its first one, a missing one the hour after."""
    return local - _of_quarters(local, lambda quarter: _offset_on_the_wall(quarter, zone))


def _of_quarters(times: Millis, offset: Callable[[int], int]) -> Millis:
    """Return the offset of each time; clocks change at full quarters of an hour.

    Python's rules of zones decide: those of polars may be older.
    """
    quarters, places = np.unique(times // QUARTER, return_inverse=True)
    return np.array([offset(int(quarter)) for quarter in quarters], dtype=np.int64)[places]


@lru_cache(maxsize=1 << 16)
def _offset(quarter: int, zone: str) -> int:
    at = datetime.fromtimestamp(quarter * QUARTER / 1000, ZoneInfo(zone))
    return _millis_of(at.utcoffset())


@lru_cache(maxsize=1 << 16)
def _offset_on_the_wall(quarter: int, zone: str) -> int:
    local = datetime.fromtimestamp(quarter * QUARTER / 1000, UTC).replace(tzinfo=ZoneInfo(zone))
    return _millis_of(local.utcoffset())


def _millis_of(offset: timedelta | None) -> int:
    return 0 if offset is None else offset // timedelta(milliseconds=1)


def within(local_hours: tuple[int, int], instants: Millis, zone: str) -> Millis:
    """Move instants on to the next time between two local hours, some minutes after the first one."""
    local = to_local(instants, zone)
    opens, closes = (hour * HOUR for hour in local_hours)
    day, clock = local // DAY * DAY, local % DAY
    waiting = local % 900_000
    moved = np.where(
        clock < opens, day + opens + waiting, np.where(clock >= closes, day + DAY + opens + waiting, local)
    )
    return np.where(moved == local, instants, to_instant(moved, zone))
