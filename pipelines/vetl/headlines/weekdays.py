"""Facts about weekdays: one that is worse than the others, again and again."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from vetl.headlines import surprise
from vetl.headlines.fact import FAR, FEWEST, STILL, Fact
from vetl.headlines.measures import MEASURES, Measure
from vetl.headlines.series import Days
from vetl.headlines.surprise import WEEK, Numbers, day_spread

_WEEKS = 8
_SHORTEST = 3
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
    end = days.end(MEASURES[name].list_name)
    has_cases = ~days.is_closed[:end] & (whole[:end] > 0)
    near = np.arange(max(end - WEEK * _WEEKS, 0), end)
    near = near[has_cases[near]]
    found: list[Fact] = []
    for number in range(WEEK):
        others = near[days.weekday[near] != number]
        own = np.flatnonzero((days.weekday[:end] == number) & has_cases)
        if len(own) >= _SHORTEST and len(others) >= _LEAST_OTHERS:
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
    for back in range(min(_WEEKS, len(every)), _SHORTEST - 1, -1):
        own = every[-back:]
        x, n = some[own].sum(), whole[own].sum()
        distance = float(surprise.of_share(x, n, others.share, others.cases, others.spread))
        half = (others.share + x / n) / 2
        bad = sign * (some[own] / whole[own] - half) > 0
        lost = sign * (x - others.share * n) * min(1.0, 4 / back)
        is_far = sign * distance >= (FAR if stated is None else STILL)
        if not is_far or not _is_large(measure, sign * (x / n - others.share), bad) or lost < FEWEST:
            continue
        since = stated.since if stated else days.day(_first_bad(some, whole, every, half, sign))
        yield Fact(
            days.practice_id, "weekday", name, None, since, None, float(x / n), float(others.share),
            float(x), float(n), float(lost), abs(distance), weekday=number,
        )  # fmt: skip
        return


def _is_large(measure: Measure, gap: float, bad: np.ndarray) -> bool:
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
