"""Find facts in the days of a practice: hours that fail, a level that shifts, a weekday unlike the others.

A fact must be far from chance (`FAR` standard errors, of the practice's own scatter) and large enough to matter
(`Measure.least`, `FEWEST`). Everything is looked at every morning, and so often chance alone comes far.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

import numpy as np

from vetl.headlines import surprise
from vetl.headlines.measures import BY_WEEKDAY, MEASURES, Measure
from vetl.headlines.series import HOURS, Days, Key
from vetl.headlines.surprise import Numbers

Shape = Literal["hours", "shift", "weekday"]

FAR = 4.0
FAR_OF_COUNTS = 4.5
"""Counts have a season, shares have hardly one."""

FAR_OF_STOPS = 3.5
"""No season makes a count stop."""

FAR_IN_HOURS = 3.8
STILL = 2.5
"""A fact that was stated stays as long as it is so far from its usual level."""

FEWEST = 4.0
"""Fewer people are worth no line."""

LOOKED_BACK = 56
"""A level that has shifted is news for so many days."""

BASELINE = 112
"""The days before a shift that give the usual level."""

_LEAST_BASELINE = 28
_LOOKS = 1_000
"""So many places that do not hang together are looked at in a quarter of a practice."""

_WEEK = 7
_WEEKS_OF_HOURS = 8
_WEEKS_OF_WEEKDAY = 8
_SHORTEST = 3
_PRIOR = 10.0
_KNOWN = 100.0
"""The share of an hour is known as from so many calls."""

_MOST_OFTEN = 0.7
_LEAST_GAP = 0.1
_STOPPED = 0.25
_MOST_OF = 0.8


@dataclass(frozen=True, slots=True)
class Fact:
    """Something unusual at a practice.

    Attributes:
        until: The last day; `None` if it goes on.
        value: The level since then; `usual` the one before, or of other days.
        some: The cases behind `value`, of `whole`; for a count the count, of the expected one.
        people: How many it cost in the last four weeks, or in its hours.
        distance: How many standard errors it is from the usual level.
        hours: The first hour and the one after the last, of a fact about hours.
        weekday: 0 is Monday, of a fact about a weekday.
    """

    practice_id: str
    shape: Shape
    measure: str
    part: str | None
    since: date
    until: date | None
    value: float
    usual: float
    some: float
    whole: float
    people: float
    distance: float
    hours: tuple[int, int] | None = None
    weekday: int | None = None

    @property
    def key(self) -> str:
        """Return the name of the fact among those of its practice and its first day."""
        of = {"hours": "hours", "weekday": "weekday", "shift": "level"}[self.shape]
        return f"{self.measure}_{of}"

    @property
    def sureness(self) -> float:
        """Return how sure it is that this is no chance, among all that is looked at in a quarter."""
        return surprise.sureness(self.distance, _LOOKS)


def facts_of(days: Days, stated: Collection[Fact] = (), *, hours_of_days: int = 8) -> list[Fact]:
    """Return the facts of a practice that are news this morning, the costliest first.

    Args:
        days: The counts through today, whose hours count as far as they have come.
        stated: The facts that go on as far as is known; they need less than a new fact.
        hours_of_days: So many days are looked at by hour.
    """
    bad_days = {fact.since for fact in stated if fact.shape == "hours"}
    ordinary = replace(days, is_closed=_also_closed(days, bad_days))
    hours = [fact for day in _recent(days, hours_of_days) for fact in _hours(days, ordinary.is_closed, day)]
    bad_days |= {fact.since for fact in hours}
    clean = replace(days, is_closed=_also_closed(days, bad_days))
    open_ones = {(fact.shape, fact.measure, fact.part): fact for fact in stated if fact.until is None}
    shifts = [fact for key in days.shares for fact in _shift(clean, key, open_ones.get(("shift", *key)))]
    weekdays = [
        fact
        for measure in BY_WEEKDAY
        for fact in _weekdays(days, measure, open_ones.get(("weekday", measure, None)))
    ]
    return sorted(_explained([*weekdays, *shifts, *hours]), key=lambda fact: -fact.people)


def _recent(days: Days, number: int) -> range:
    return range(max(days.today - number + 1, 0), days.today + 1)


def _also_closed(days: Days, others: Collection[date]) -> np.ndarray:
    closed = days.is_closed.copy()
    for day in others:
        if day >= days.first:
            closed[(day - days.first).days] = True
    return closed


# Hours


def _hours(days: Days, is_unlike: np.ndarray, at: int) -> Iterator[Fact]:
    """Yield the worst hours of a day, if they are far from the same hours of the same weekday before."""
    before = [at - _WEEK * weeks for weeks in range(1, _WEEKS_OF_HOURS + 1) if at - _WEEK * weeks >= 0]
    before = [place for place in before if not is_unlike[place]]
    near = np.arange(max(at - _WEEK * _WEEKS_OF_HOURS, 0), at)
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
    of_weekday = _drawn(some[before].sum(), whole[before].sum(), overall)
    share = _drawn(some[before].sum(axis=0), whole[before].sum(axis=0), of_weekday)
    phi = _day_spread(some.sum(axis=1), whole.sum(axis=1), near, days.weekday)

    def far(x: Numbers, n: Numbers, e: Numbers) -> Numbers:
        return surprise.of_share(x, n, e / np.maximum(n, 1e-9), _KNOWN, phi)

    worst = _worst(some[at], whole[at], whole[at] * share, far)
    if worst and _is_news(worst, 2):
        yield _of_hours(days, at, "answered", worst)


def _without_calls(days: Days, at: int, before: np.ndarray, near: np.ndarray) -> Iterator[Fact]:
    """Yield the hours in which hardly a call came."""
    some, _ = days.hours["calls"]
    usual = some[before].mean(axis=0)
    phi = _count_spread(some[near].sum(axis=1), days.weekday[near])

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
    return window.far <= -FAR_IN_HOURS and lost >= FEWEST and window.some * times <= window.expected


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


def _drawn(some: Numbers | float, whole: Numbers | float, share: Numbers | float) -> Numbers | float:
    """Return a share of few cases, drawn to the share of more."""
    return (some + _PRIOR * share) / (whole + _PRIOR)


def _day_spread(some: Numbers, whole: Numbers, near: np.ndarray, weekday: np.ndarray) -> float:
    """Return the scatter of the days of a share, each beside its weekday."""
    share = np.zeros(len(near))
    overall = _drawn(some[near].sum(), whole[near].sum(), 0.5)
    for number in range(_WEEK):
        own = weekday[near] == number
        share[own] = _drawn(some[near][own].sum(), whole[near][own].sum(), overall)
    return surprise.spread_of(some[near], whole[near] * share, whole[near] * share * (1 - share))


# Levels


def _shift(days: Days, key: Key, stated: Fact | None) -> Iterator[Fact]:
    """Yield a level that is worse since some day than in the weeks before; the day that stands out most."""
    measure = MEASURES[key[0]]
    some, whole, expected = _adjusted(days, key)
    end = days.end(measure.list_name)
    sums = [np.concatenate(([0.0], np.cumsum(values[:end]))) for values in (some, whole, expected)]
    seen = np.concatenate(([0], np.cumsum(expected[:end] > 0)))
    if stated is not None:
        begins = np.array([max((stated.since - days.first).days, 0)])
        starts = np.maximum(begins, end - 28)
        if end - begins[0] > LOOKED_BACK + 35 or starts[0] >= end:
            return
    else:
        begins = starts = np.arange(max(end - LOOKED_BACK, 0), max(end - _SHORTEST + 1, 0))
    lefts = np.maximum(begins - BASELINE, 0)
    kept = (seen[begins] - seen[lefts] >= _LEAST_BASELINE) & (seen[end] - seen[starts] >= 1)
    begins, starts, lefts = begins[kept], starts[kept], lefts[kept]
    if not len(begins):
        return
    x, n, e = (total[end] - total[starts] for total in sums)
    x0, n0, e0 = (total[begins] - total[lefts] for total in sums)
    usual = e * x0 / np.maximum(e0, 1e-9)
    phi = _spread((some, whole, expected), int(lefts[0]), int(begins[0]), measure)
    if measure.is_share:
        distance = surprise.of_share(x, n, np.clip(usual / np.maximum(n, 1e-9), 0, 1), n0, phi)
    else:
        distance = surprise.of_count(x, usual, x0, phi)
    sign = -1.0 if measure.worse == "low" else 1.0
    place = int(np.argmax(sign * distance))
    length = max(int(seen[end] - seen[starts[place]]), 1)
    value, level = _levels(measure, x[place], n[place], usual[place], length)
    change = sign * (value - level) / (1.0 if measure.is_share else max(level, 1e-9))
    lasts = _lasts(x, usual, place, sign) if stated is None else True
    far = STILL if stated else _far(measure, float(value), float(level))
    is_far = sign * distance[place] >= far
    if not is_far or change < measure.least * (1.0 if stated is None else 0.5) or not lasts:
        return
    lost = sign * float(_of_last(sums, starts[place], end, x0[place], e0[place]))
    if lost < FEWEST:
        return
    yield Fact(
        days.practice_id, "shift", key[0], key[1],
        since=stated.since if stated else days.day(int(begins[place])), until=None,
        value=float(value), usual=float(level), some=float(x[place]),
        whole=float(n[place] if measure.is_share else usual[place]),
        people=lost, distance=float(abs(distance[place])),
    )  # fmt: skip


def _far(measure: Measure, value: float, level: float) -> float:
    """Return how far a new level must be."""
    if measure.is_share:
        return FAR
    return FAR_OF_STOPS if value <= _STOPPED * level else FAR_OF_COUNTS


def _of_last(sums: Sequence[Numbers], start: int, end: int, x0: float, e0: float) -> float:
    """Return the difference to the usual level in at most the last four weeks."""
    begin = max(int(start), end - 28)
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
    past = np.arange(max(days.today - LOOKED_BACK - BASELINE, 0), days.today)
    past = past[~days.is_closed[past]]
    expected = np.zeros(len(some))
    overall = some[past].sum() / max(whole[past].sum() if is_share else len(past), 1.0)
    for number in range(_WEEK):
        own = past[days.weekday[past] == number]
        at = (days.weekday == number) & ~days.is_closed
        if is_share:
            expected[at] = whole[at] * _drawn(some[own].sum(), whole[own].sum(), overall)
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
    for length in (1, _WEEK):
        blocks = [
            values[len(values) % length :].reshape(-1, length).sum(axis=1) for values in (some, whole, expected)
        ]
        x, n, e = blocks
        variance = e * (1 - np.clip(e / np.maximum(n, 1e-9), 0, 0.999)) if measure.is_share else e
        # A few expected cases scatter as chance alone does; their squares say nothing about more.
        enough = variance >= (0.5 if length == 1 else 1.0)
        spreads.append(surprise.spread_of(x[enough], e[enough], variance[enough]))
    return max(spreads)


def _count_spread(counted: Numbers, weekday: np.ndarray) -> float:
    expected = np.zeros(len(counted))
    for number in range(_WEEK):
        own = weekday == number
        if own.any():
            expected[own] = counted[own].mean()
    return surprise.spread_of(counted, expected, expected)


# Weekdays


def _weekdays(days: Days, name: str, stated: Fact | None) -> Iterator[Fact]:
    """Yield the weekday that is worse than the others, again and again."""
    if (name, None) not in days.shares:
        return
    measure = MEASURES[name]
    sign = -1.0 if measure.worse == "low" else 1.0
    some, whole = days.shares[name, None]
    end = days.end(measure.list_name)
    near = np.arange(max(end - _WEEK * _WEEKS_OF_WEEKDAY, 0), end)
    near = near[~days.is_closed[near] & (whole[near] > 0)]
    found: list[Fact] = []
    for number in range(_WEEK):
        others = near[days.weekday[near] != number]
        all_own = np.flatnonzero((days.weekday[:end] == number) & ~days.is_closed[:end] & (whole[:end] > 0))
        if len(all_own) < _SHORTEST or len(others) < _LEAST_BASELINE // 2:
            continue
        x0, n0 = some[others].sum(), whole[others].sum()
        usual = x0 / n0
        phi = _day_spread(some, whole, others, days.weekday)
        is_known = stated is not None and stated.weekday == number
        for back in range(min(_WEEKS_OF_WEEKDAY, len(all_own)), _SHORTEST - 1, -1):
            own = all_own[-back:]
            x, n = some[own].sum(), whole[own].sum()
            distance = float(surprise.of_share(x, n, usual, n0, phi))
            half = (usual + x / n) / 2
            bad = sign * (some[own] / whole[own] - half) > 0
            gap = sign * (x / n - usual)
            is_far = sign * distance >= (STILL if is_known else FAR)
            if (
                not is_far
                or gap < max(measure.least, _LEAST_GAP)
                or bad.mean() < _MOST_OFTEN
                or not bad[-2:].any()
            ):
                continue
            lost = sign * (x - usual * n) * min(1.0, 4 / back)
            if lost < FEWEST:
                continue
            since = stated.since if stated and is_known else days.day(_first_bad(some, whole, all_own, half, sign))
            fact = Fact(
                days.practice_id, "weekday", name, None, since, None, float(x / n), float(usual),
                float(x), float(n), float(lost), abs(distance), weekday=number,
            )  # fmt: skip
            found.append(fact)
            break
    if found:
        yield max(found, key=lambda fact: fact.people)


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


# Facts that explain others


def _explained(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts without those that another one explains."""
    weekdays = {(fact.measure, fact.weekday) for fact in facts if fact.shape == "weekday"}
    shifts: Mapping[tuple[str, str | None], Fact] = {
        (fact.measure, fact.part): fact for fact in facts if fact.shape == "shift"
    }
    best: dict[str, Fact] = {}
    for fact in facts:
        if fact.shape == "shift" and fact.part is not None:
            known = best.get(fact.measure)
            best[fact.measure] = fact if known is None or fact.people > known.people else known
    left: list[Fact] = []
    for fact in facts:
        if fact.shape == "hours":
            of_weekday = (fact.measure, fact.since.weekday()) in weekdays
            shift = shifts.get((fact.measure, None))
            if of_weekday or (shift and shift.since <= fact.since and fact.value > shift.value / 2):
                continue
        elif fact.shape == "shift":
            if fact.part is not None and best[fact.measure] is not fact:
                continue
            if _is_of_part(fact, best) or _is_of_whole(fact, shifts):
                continue
        left.append(fact)
    return left


def _is_of_part(fact: Fact, parts: Mapping[str, Fact]) -> bool:
    """Return whether one part of a measure accounts for its change."""
    return any(
        MEASURES[name].of_part_of == fact.measure and part.people >= _MOST_OF * fact.people
        for name, part in parts.items()
    )


def _is_of_whole(fact: Fact, shifts: Mapping[tuple[str, str | None], Fact]) -> bool:
    """Return whether the whole has changed, of which this part is a small one; of a count, not most of it."""
    measure = MEASURES[fact.measure]
    of = shifts.get((measure.of_part_of, None)) if measure.of_part_of else None
    return of is not None and fact.people < of.people * (0.5 if measure.is_share else _MOST_OF)
