"""Facts about levels: a share or a count that is worse since some day than in the weeks before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vetl.headlines import surprise
from vetl.headlines.fact import FAR, FEWEST, STILL, Fact
from vetl.headlines.measures import MEASURES, Measure
from vetl.headlines.series import Days, Key
from vetl.headlines.surprise import WEEK, Numbers, drawn

_FAR_OF_COUNTS = 4.5
"""Counts have a season, shares have hardly one."""

_FAR_OF_STOPS = 3.5
"""No season makes a count stop."""

_LOOKED_BACK = 56
"""A level that has shifted is news for so many days."""

_BASELINE = 112
"""The days before a shift that give the usual level."""

_LEAST_BASELINE = 28
_SHORTEST = 3
_NEWEST = 28
"""The people of a level are those of the last four weeks."""

_STOPPED = 0.25


@dataclass(frozen=True, slots=True)
class _Counts:
    """The counts of a series by day, and their sums up to each day, through the last whole day."""

    measure: Measure
    end: int
    some: Numbers
    whole: Numbers
    expected: Numbers

    @classmethod
    def of(cls, days: Days, key: Key) -> "_Counts":
        measure = MEASURES[key[0]]
        return cls(measure, days.end(measure.list_name), *_adjusted(days, key))

    @property
    def by_day(self) -> tuple[Numbers, Numbers, Numbers]:
        return self.some, self.whole, self.expected

    def sums(self) -> list[Numbers]:
        return [np.concatenate(([0.0], np.cumsum(values[: self.end]))) for values in self.by_day]

    def seen(self) -> np.ndarray:
        """Return how many days up to each one had something to expect."""
        return np.concatenate(([0], np.cumsum(self.expected[: self.end] > 0)))


@dataclass(frozen=True, slots=True)
class _Places:
    """Days on which a level may begin: the first day that counts for it, and the first day of what was usual."""

    begins: np.ndarray
    starts: np.ndarray
    lefts: np.ndarray

    @classmethod
    def of(cls, days: Days, counts: _Counts, stated: Fact | None) -> "_Places":
        end, seen = counts.end, counts.seen()
        if stated is None:
            begins = starts = np.arange(max(end - _LOOKED_BACK, 0), max(end - _SHORTEST + 1, 0))
        else:
            begins = np.array([max((stated.since - days.first).days, 0)])
            starts = np.maximum(begins, end - _NEWEST)
            is_news = end - begins[0] <= _LOOKED_BACK + 35 and starts[0] < end
            begins, starts = (begins, starts) if is_news else (begins[:0], starts[:0])
        lefts = np.maximum(begins - _BASELINE, 0)
        kept = (seen[begins] - seen[lefts] >= _LEAST_BASELINE) & (seen[end] - seen[starts] >= 1)
        return cls(begins[kept], starts[kept], lefts[kept])


def shift_of(days: Days, key: Key, stated: Fact | None) -> Iterator[Fact]:
    """Yield a level that is worse since some day than in the weeks before; the day that stands out most."""
    counts = _Counts.of(days, key)
    places = _Places.of(days, counts, stated)
    if not len(places.begins):
        return
    measure, sums, end = counts.measure, counts.sums(), counts.end
    x, n, e = (total[end] - total[places.starts] for total in sums)
    x0, n0, e0 = (total[places.begins] - total[places.lefts] for total in sums)
    usual = e * x0 / np.maximum(e0, 1e-9)
    phi = _spread(counts.by_day, int(places.lefts[0]), int(places.begins[0]), measure)
    if measure.is_share:
        distance = surprise.of_share(x, n, np.clip(usual / np.maximum(n, 1e-9), 0, 1), n0, phi)
    else:
        distance = surprise.of_count(x, usual, x0, phi)
    sign = -1.0 if measure.worse == "low" else 1.0
    place = int(np.argmax(sign * distance))
    seen = counts.seen()
    length = max(int(seen[end] - seen[places.starts[place]]), 1)
    value, level = _levels(measure, x[place], n[place], usual[place], length)
    far = STILL if stated else _far(measure, float(value), float(level))
    is_far = sign * distance[place] >= far and _is_large(measure, sign, value, level, stated)
    lost = sign * float(_of_last(sums, places.starts[place], end, x0[place], e0[place]))
    if not is_far or lost < FEWEST or (stated is None and not _lasts(x, usual, place, sign)):
        return
    yield Fact(
        days.practice_id, "shift", key[0], key[1],
        since=stated.since if stated else days.day(int(places.begins[place])), until=None,
        value=float(value), usual=float(level), some=float(x[place]),
        whole=float(n[place] if measure.is_share else usual[place]),
        people=lost, distance=float(abs(distance[place])),
    )  # fmt: skip


def _is_large(measure: Measure, sign: float, value: float, level: float, stated: Fact | None) -> bool:
    """Return whether a change is large enough to matter; half of it is enough for a fact that was stated."""
    change = sign * (value - level) / (1.0 if measure.is_share else max(level, 1e-9))
    return bool(change >= measure.least * (1.0 if stated is None else 0.5))


def _far(measure: Measure, value: float, level: float) -> float:
    """Return how far a new level must be."""
    if measure.is_share:
        return FAR
    return _FAR_OF_STOPS if value <= _STOPPED * level else _FAR_OF_COUNTS


def _of_last(sums: Sequence[Numbers], start: int, end: int, x0: float, e0: float) -> float:
    """Return the difference to the usual level in at most the last four weeks."""
    begin = max(int(start), end - _NEWEST)
    return float((sums[0][end] - sums[0][begin]) - (sums[2][end] - sums[2][begin]) * x0 / max(e0, 1e-9))


def _lasts(x: Numbers, usual: Numbers, place: int, sign: float) -> bool:
    """Return whether the newest days alone go on in the same direction: one bad day is no level."""
    newest = len(x) - 1
    if place == newest:
        return True
    return bool(sign * (x[newest] - usual[newest]) > 0)


def _levels(measure: Measure, x: float, n: float, usual: float, length: int) -> tuple[float, float]:
    if measure.is_share:
        return x / max(n, 1e-9), usual / max(n, 1e-9)
    return x / length, usual / length


def _adjusted(days: Days, key: Key) -> tuple[Numbers, Numbers, Numbers]:
    """Return the counts of a series without closed days, and those that the weekday alone makes expected."""
    some, whole = (np.where(days.is_closed, 0.0, values) for values in days.shares[key])
    is_share = MEASURES[key[0]].is_share
    past = np.arange(max(days.today - _LOOKED_BACK - _BASELINE, 0), days.today)
    past = past[~days.is_closed[past]]
    expected = np.zeros(len(some))
    overall = some[past].sum() / max(whole[past].sum() if is_share else len(past), 1.0)
    for number in range(WEEK):
        own = past[days.weekday[past] == number]
        at = (days.weekday == number) & ~days.is_closed
        if is_share:
            expected[at] = whole[at] * drawn(some[own].sum(), whole[own].sum(), overall)
        else:
            expected[at] = some[own].sum() / max(len(own), 1)
    return some, whole, expected


def _spread(counted: tuple[Numbers, Numbers, Numbers], begin: int, end: int, measure: Measure) -> float:
    """Return the scatter of the days and of the weeks before, the larger of the two."""
    some, whole, expected = (values[begin:end] for values in counted)
    total = expected.sum()
    if total <= 0:
        return 1.0
    expected = expected * some.sum() / total
    spreads: list[float] = []
    for length in (1, WEEK):
        blocks = [
            values[len(values) % length :].reshape(-1, length).sum(axis=1) for values in (some, whole, expected)
        ]
        x, n, e = blocks
        variance = e * (1 - np.clip(e / np.maximum(n, 1e-9), 0, 0.999)) if measure.is_share else e
        # A few expected cases scatter as chance alone does; their squares say nothing about more.
        enough = variance >= (0.5 if length == 1 else 1.0)
        spreads.append(surprise.spread_of(x[enough], e[enough], variance[enough]))
    return max(spreads)
