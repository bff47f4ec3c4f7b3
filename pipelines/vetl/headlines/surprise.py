"""How far counts are from their usual values, in standard errors, and how far and how large a fact must be.

All distances are signed roots of the deviance, whose tails stay right for few cases, where those of a normal
approximation do not. Half a case is given to chance. `spread` is how many times more a series scatters than chance
alone: the variance of a practice's own weeks, over that of a toss.
"""

from dataclasses import dataclass
from datetime import date
from math import erfc, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Numbers = NDArray[np.float64]

_TRIMMED = 0.9
"""Of the squared deviations the largest tenth is left out, so that one bad week does not hide the next."""

_TRIMMED_MEAN = 0.623
"""The mean of the lowest nine tenths of squared deviations, if chance alone makes them."""

_FEWEST_TERMS = 6
_PRIOR = 10.0
"""A share of few cases is drawn to that of more as if it had so many cases of theirs."""

WEEK = 7
_HALF = 0.5


def of_share(some: ArrayLike, whole: ArrayLike, share: ArrayLike, known: ArrayLike, spread: ArrayLike) -> Numbers:
    """Return how far `some` of `whole` is above the usual share of `known` earlier cases; below: negative."""
    x, n, p, n0, phi = (np.asarray(values, dtype=float) for values in (some, whole, share, known, spread))
    p = np.clip(p, 0.5 / np.maximum(n0, 1.0), 1 - 0.5 / np.maximum(n0, 1.0))
    x = _nearer(x, n * p)
    pooled = (x + n0 * p) / np.maximum(n + n0, 1e-9)
    deviance = _term(x, n * pooled) + _term(n - x, n * (1 - pooled))
    deviance += _term(n0 * p, n0 * pooled) + _term(n0 * (1 - p), n0 * (1 - pooled))
    return np.sign(x - n * p) * np.sqrt(2 * np.maximum(deviance, 0) / np.maximum(phi, 1.0))


def of_count(count: ArrayLike, expected: ArrayLike, known: ArrayLike, spread: ArrayLike) -> Numbers:
    """Return how far a count is above the expected one of `known` earlier cases; below: negative."""
    x, e, x0, phi = (np.asarray(values, dtype=float) for values in (count, expected, known, spread))
    x = _nearer(x, e)
    times = e / np.maximum(x0, 1e-9)
    pooled = (x + x0) / (1 + times)
    deviance = _term(x, pooled * times) + _term(x0, pooled) - (x - pooled * times) - (x0 - pooled)
    return np.sign(x - e) * np.sqrt(2 * np.maximum(deviance, 0) / np.maximum(phi, 1.0))


def spread_of(counted: Numbers, expected: Numbers, variance: Numbers) -> float:
    """Return how many times more these counts scatter than chance alone, at least 1."""
    kept = variance > 0
    terms = np.sort((counted[kept] - expected[kept]) ** 2 / variance[kept])
    if len(terms) < _FEWEST_TERMS:
        return 1.0
    lowest = terms[: max(int(len(terms) * _TRIMMED), 1)]
    return max(1.0, float(lowest.mean()) / _TRIMMED_MEAN)


def drawn(some: Numbers | float, whole: Numbers | float, share: Numbers | float) -> Numbers | float:
    """Return a share of few cases, drawn to the share of more."""
    return (some + _PRIOR * share) / (whole + _PRIOR)


def day_spread(some: Numbers, whole: Numbers, near: NDArray[Any], weekday: NDArray[Any]) -> float:
    """Return the scatter of the days of a share, each beside its weekday."""
    share = np.zeros(len(near))
    overall = drawn(some[near].sum(), whole[near].sum(), 0.5)
    for number in range(WEEK):
        own = weekday[near] == number
        share[own] = drawn(some[near][own].sum(), whole[near][own].sum(), overall)
    return spread_of(some[near], whole[near] * share, whole[near] * share * (1 - share))


def count_spread(counted: Numbers, weekday: NDArray[Any]) -> float:
    """Return the scatter of the days of a count, each beside its weekday."""
    expected = np.zeros(len(counted))
    for number in range(WEEK):
        own = weekday == number
        if own.any():
            expected[own] = counted[own].mean()
    return spread_of(counted, expected, expected)


def sureness(distance: float, looks: int) -> float:
    """Return how sure it is that a distance is not by chance, if so many places were looked at."""
    return max(0.0, 1.0 - looks * erfc(abs(distance) / sqrt(2)) / 2)


def _nearer(x: Numbers, expected: Numbers) -> Numbers:
    """Return counts that are half a case nearer to the expected ones."""
    return np.where(np.abs(x - expected) <= _HALF, expected, x - _HALF * np.sign(x - expected))


def _term(observed: Numbers, expected: Numbers) -> Numbers:
    """Return observed * log(observed / expected), which is 0 without a case."""
    ratio = np.where(observed > 0, observed, 1.0) / np.maximum(np.where(observed > 0, expected, 1.0), 1e-12)
    return np.where(observed > 0, observed * np.log(ratio), 0.0)


Shape = Literal["hours", "shift", "weekday"]

FAR = 4.0
"""A share must be so many standard errors from its usual value, of the practice's own scatter."""

STILL = 2.5
"""A fact that was stated stays as long as it is so far from its usual level."""

FEWEST = 4.0
"""Fewer people are worth no line."""

_LOOKS = 1_000
"""So many places that do not hang together are looked at in a quarter of a practice."""

_NAMES = {"hours": "hours", "weekday": "weekday", "shift": "level"}


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
        return f"{self.measure}_{_NAMES[self.shape]}"

    @property
    def sureness(self) -> float:
        """Return how sure it is that this is no chance, among all that is looked at in a quarter."""
        return sureness(self.distance, _LOOKS)
