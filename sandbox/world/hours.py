"""When things happen: the real hours of a practice's month, and how busy each is."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sandbox.world.lives import Millis
from sandbox.world.practices import Practice

HOUR = 3_600_000
DAY = 24 * HOUR
_EPOCH_YEAR = 2000
_WEEKDAYS = (1.25, 1.05, 1.0, 1.0, 1.15, 0.55, 0.06)
_AT_NIGHT = 0.012
_AROUND_A_CLOCK_CHANGE = 0.09
_SATURDAY, _SUNDAY = 5, 6
_MONTHS_PER_YEAR = 12


def month_of(moment: datetime) -> int:
    """Months since January 2000."""
    return (moment.year - _EPOCH_YEAR) * _MONTHS_PER_YEAR + moment.month - 1


def millis(moment: datetime) -> int:
    """Milliseconds since 1970 UTC."""
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
    """The hours between two local midnights of a practice's months."""
    first, last = (_local_month(practice, number) for number in (month, month + 1))
    begins = [first + timedelta(hours=n) for n in range(int((last - first).total_seconds()) // 3600)]
    local = [moment.astimezone(practice.zone) for moment in begins]
    changes = {
        near
        for here in range(1, len(local))
        if local[here].utcoffset() != local[here - 1].utcoffset()
        for near in range(here - 2, here + 2)
    }
    weight = [
        # So that even a small world has calls in the repeated hour and on both sides of the missing one.
        _AROUND_A_CLOCK_CHANGE if place in changes else _busyness(practice, moment)
        for place, moment in enumerate(local)
    ]
    return Hours(np.array([millis(moment) for moment in begins]), np.array(weight))


def _local_month(practice: Practice, month: int) -> datetime:
    year, place = divmod(month, _MONTHS_PER_YEAR)
    return datetime(_EPOCH_YEAR + year, place + 1, 1, tzinfo=practice.zone).astimezone(UTC)


def _busyness(practice: Practice, local: datetime) -> float:
    season = 1 + 0.2 * np.sin((local.month - 3) * np.pi / 6)
    return season * _of_week(practice, local.weekday(), local.hour) * 7 / _whole_week(practice)


@lru_cache(maxsize=512)
def _whole_week(practice: Practice) -> float:
    return sum(_of_week(practice, weekday, hour) for weekday in range(7) for hour in range(24))


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


def draw_times(practice: Practice, month: int, a_day: float, rng: np.random.Generator) -> Millis:
    """Instants in a month, about `a_day` on an average day, in order."""
    hours = hours_of(practice, month)
    counts = rng.poisson(hours.weight * a_day)
    begins = np.repeat(hours.begins, counts)
    return np.sort(begins + rng.integers(0, HOUR, len(begins)))


def to_local(instants: Millis, zone: str) -> Millis:
    """Instants as what a clock on the wall shows, in milliseconds as if that were UTC."""
    shown = (
        pl.Series(instants).cast(pl.Datetime("ms", "UTC")).dt.convert_time_zone(zone).dt.replace_time_zone(None)
    )
    return shown.cast(pl.Int64).to_numpy()


def to_instant(local: Millis, zone: str) -> Millis:
    """The reverse of `to_local`; a repeated hour is its first one, a missing one the hour after."""
    naive = pl.Series(local).cast(pl.Datetime("ms"))
    known = naive.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    later = naive.dt.offset_by("1h").dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    return known.fill_null(later).dt.convert_time_zone("UTC").cast(pl.Int64).to_numpy()


def within(local_hours: tuple[int, int], instants: Millis, zone: str) -> Millis:
    """Instants moved on to the next time between two local hours, some minutes after the first one."""
    local = to_local(instants, zone)
    opens, closes = (hour * HOUR for hour in local_hours)
    day, clock = local // DAY * DAY, local % DAY
    waiting = local % 900_000
    moved = np.where(
        clock < opens, day + opens + waiting, np.where(clock >= closes, day + DAY + opens + waiting, local)
    )
    return np.where(moved == local, instants, to_instant(moved, zone))
