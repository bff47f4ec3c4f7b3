"""The shapes of facts, each with its search.

- A level: a share or a count that is worse since some day than in the weeks before.
- A weekday that is worse than the others, again and again.
- Hours: calls that rang in vain, and a line without a call, beside the same hours of other weeks.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from vetl.headlines import surprise
from vetl.headlines.measures import HOURS, MEASURES, Days, Key, Measure
from vetl.headlines.surprise import FAR, FEWEST, STILL, WEEK, Fact, Numbers, count_spread, day_spread, drawn

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
        return cls(measure, days.end(measure.of.name), *_adjusted(days, key))

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


_WEEKS = 8
_SHORTEST_WEEKS = 3
_LEAST_OTHERS = 14
_MOST_OFTEN = 0.7
_LEAST_GAP = 0.1


@dataclass(frozen=True, slots=True)
class _Others:
    """The share of the other weekdays: its cases, and the scatter of the days."""

    share: float
    cases: float
    spread: float


def weekdays_of(days: Days, name: str, stated: Fact | None) -> Iterator[Fact]:
    """Yield the weekday that is worse than the others, again and again; the costliest of several."""
    if (name, None) not in days.shares:
        return
    some, whole = days.shares[name, None]
    end = days.end(MEASURES[name].of.name)
    has_cases = ~days.is_closed[:end] & (whole[:end] > 0)
    near = np.arange(max(end - WEEK * _WEEKS, 0), end)
    near = near[has_cases[near]]
    found: list[Fact] = []
    for number in range(WEEK):
        others = near[days.weekday[near] != number]
        own = np.flatnonzero((days.weekday[:end] == number) & has_cases)
        if len(own) >= _SHORTEST_WEEKS and len(others) >= _LEAST_OTHERS:
            x0, n0 = some[others].sum(), whole[others].sum()
            beside = _Others(x0 / n0, n0, day_spread(some, whole, others, days.weekday))
            known = stated if stated is not None and stated.weekday == number else None
            found += _of_weekday(days, name, number, own, beside, known)
    if found:
        yield max(found, key=lambda fact: fact.people)


def _of_weekday(
    days: Days, name: str, number: int, every: np.ndarray, others: _Others, stated: Fact | None
) -> Iterator[Fact]:
    """Yield a fact about one weekday, of as many of its last weeks as make one."""
    measure = MEASURES[name]
    sign = -1.0 if measure.worse == "low" else 1.0
    some, whole = days.shares[name, None]
    for back in range(min(_WEEKS, len(every)), _SHORTEST_WEEKS - 1, -1):
        own = every[-back:]
        x, n = some[own].sum(), whole[own].sum()
        distance = float(surprise.of_share(x, n, others.share, others.cases, others.spread))
        half = (others.share + x / n) / 2
        bad = sign * (some[own] / whole[own] - half) > 0
        lost = sign * (x - others.share * n) * min(1.0, 4 / back)
        is_far = sign * distance >= (FAR if stated is None else STILL)
        if not is_far or not _is_large_gap(measure, sign * (x / n - others.share), bad) or lost < FEWEST:
            continue
        since = stated.since if stated else days.day(_first_bad(some, whole, every, half, sign))
        yield Fact(
            days.practice_id, "weekday", name, None, since, None, float(x / n), float(others.share),
            float(x), float(n), float(lost), abs(distance), weekday=number,
        )  # fmt: skip
        return


def _is_large_gap(measure: Measure, gap: float, bad: np.ndarray) -> bool:
    """Return whether the weekday is worse by enough, most often, and of late."""
    return bool(gap >= max(measure.least, _LEAST_GAP) and bad.mean() >= _MOST_OFTEN and bad[-2:].any())


def _first_bad(some: Numbers, whole: Numbers, own: np.ndarray, half: float, sign: float) -> int:
    """Return the first of these days from which on they are bad, with at most one good day in a row."""
    bad = sign * (some[own] / whole[own] - half) > 0
    first = len(own) - 1
    good = 0
    for place in range(len(own) - 1, -1, -1):
        good = 0 if bad[place] else good + 1
        if good > 1:
            break
        if bad[place]:
            first = place
    return int(own[first])


_FAR = 3.8
_WEEKS_OF_HOURS = 8
_KNOWN = 100.0
"""The share of an hour is known as from so many calls."""


def hours_of(days: Days, is_unlike: np.ndarray, at: int) -> Iterator[Fact]:
    """Yield the worst hours of a day, if they are far from the same hours of the same weekday before."""
    before = [at - WEEK * weeks for weeks in range(1, _WEEKS_OF_HOURS + 1) if at - WEEK * weeks >= 0]
    before = [place for place in before if not is_unlike[place]]
    near = np.arange(max(at - WEEK * _WEEKS_OF_HOURS, 0), at)
    near = near[~is_unlike[near]]
    if len(before) < _WEEKS_OF_HOURS // 2 or days.is_closed[at]:
        return
    if "answered" in days.hours:
        yield from _unanswered(days, at, np.array(before), near)
    if "calls" in days.hours and at < days.end("phone_calls"):
        yield from _without_calls(days, at, np.array(before), near)


def _unanswered(days: Days, at: int, before: np.ndarray, near: np.ndarray) -> Iterator[Fact]:
    """Yield the hours in which calls rang in vain."""
    some, whole = days.hours["answered"]
    overall = some[near].sum() / max(whole[near].sum(), 1.0)
    of_weekday = drawn(some[before].sum(), whole[before].sum(), overall)
    share = drawn(some[before].sum(axis=0), whole[before].sum(axis=0), of_weekday)
    phi = day_spread(some.sum(axis=1), whole.sum(axis=1), near, days.weekday)

    def far(x: Numbers, n: Numbers, e: Numbers) -> Numbers:
        return surprise.of_share(x, n, e / np.maximum(n, 1e-9), _KNOWN, phi)

    worst = _worst(some[at], whole[at], whole[at] * share, far)
    if worst and _is_news(worst, 2):
        yield _of_hours(days, at, "answered", worst)


def _without_calls(days: Days, at: int, before: np.ndarray, near: np.ndarray) -> Iterator[Fact]:
    """Yield the hours in which hardly a call came."""
    some, _ = days.hours["calls"]
    usual = some[before].mean(axis=0)
    phi = count_spread(some[near].sum(axis=1), days.weekday[near])

    def far(x: Numbers, _: Numbers, e: Numbers) -> Numbers:
        return surprise.of_count(x, e, e * len(before), phi)

    worst = _worst(some[at], usual, usual, far)
    if worst and _is_news(worst, 4):
        yield _of_hours(days, at, "calls", worst)


@dataclass(frozen=True, slots=True)
class _Window:
    """Hours in a row, their counts, and how far they are from the expected ones."""

    first: int
    last: int
    some: float
    whole: float
    expected: float
    far: float


def _is_news(window: _Window, times: int) -> bool:
    """Return whether so few cases are far from chance, and fewer by so many times."""
    lost = window.expected - window.some
    return window.far <= -_FAR and lost >= FEWEST and window.some * times <= window.expected


def _of_hours(days: Days, at: int, measure: str, window: _Window) -> Fact:
    of = window.whole if MEASURES[measure].is_share else 1.0
    day = days.day(at)
    return Fact(
        days.practice_id, "hours", measure, None, day, day, value=window.some / of, usual=window.expected / of,
        some=window.some, whole=window.whole, people=window.expected - window.some, distance=abs(window.far),
        hours=(window.first, window.last),
    )  # fmt: skip


def _worst(
    some: Numbers, whole: Numbers, expected: Numbers, far: Callable[[Numbers, Numbers, Numbers], Numbers]
) -> _Window | None:
    """Return the hours in a row that are farthest below, without empty ends."""
    sums = [np.concatenate(([0.0], np.cumsum(values))) for values in (some, whole, expected)]
    first, last = np.triu_indices(HOURS + 1, 1)
    x, n, e = (total[last] - total[first] for total in sums)
    ends = np.concatenate((expected, [0.0]))
    kept = (n > 0) & (ends[first] > 0) & (ends[last - 1] > 0)
    if not kept.any():
        return None
    first, last = first[kept], last[kept]
    x, n, e = x[kept], n[kept], e[kept]
    distance = far(x, n, e)
    place = int(np.argmin(distance))
    return _Window(
        int(first[place]), int(last[place]), float(x[place]), float(n[place]), float(e[place]),
        float(distance[place]),
    )  # fmt: skip
