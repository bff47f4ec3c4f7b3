"""Facts about hours: calls that rang in vain, and a line without a call, beside the same hours of other weeks."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from vetl.headlines import surprise
from vetl.headlines.fact import FEWEST, Fact
from vetl.headlines.measures import MEASURES
from vetl.headlines.series import HOURS, Days
from vetl.headlines.surprise import WEEK, Numbers, count_spread, day_spread, drawn

_FAR = 3.8
_WEEKS = 8
_KNOWN = 100.0
"""The share of an hour is known as from so many calls."""


def hours_of(days: Days, is_unlike: np.ndarray, at: int) -> Iterator[Fact]:
    """Yield the worst hours of a day, if they are far from the same hours of the same weekday before."""
    before = [at - WEEK * weeks for weeks in range(1, _WEEKS + 1) if at - WEEK * weeks >= 0]
    before = [place for place in before if not is_unlike[place]]
    near = np.arange(max(at - WEEK * _WEEKS, 0), at)
    near = near[~is_unlike[near]]
    if len(before) < _WEEKS // 2 or days.is_closed[at]:
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
