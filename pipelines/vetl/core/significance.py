"""The difference between a change and chance: 95 % intervals of shares, of differences and of counts.

A difference has an arrow and a colour only if zero is outside of its interval. The intervals of shares are those
of Wilson, and of their difference those of Newcombe, which stay sound for small counts. A count is taken for a
Poisson count. `marts.practice_peers` has the interval of a share in SQL; a test compares them. `largest_part` says
which kind of end makes up the largest part of a difference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt

USUAL = 1.96
"""The normal quantile of an interval that holds the truth 95 times of 100."""

STRICT = 3.0
"""The normal quantile if many practices and figures are looked at: by chance three of a thousand are outside."""

Interval = tuple[float, float]

Counts = tuple[int, int]
"""The cases that went well, and all cases."""


def share_interval(some: float, whole: float, z: float = USUAL) -> Interval:
    """Return the interval of a share: 0 to 1 if there is nothing to divide."""
    if not whole:
        return 0.0, 1.0
    share, weight = some / whole, z**2 / whole
    middle = (share + weight / 2) / (1 + weight)
    half = z * sqrt(max(share * (1 - share), 0.0) / whole + weight / (4 * whole)) / (1 + weight)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def difference_interval(
    some: float, whole: float, other_some: float, other_whole: float, z: float = USUAL
) -> Interval:
    """Return the interval of the first share minus the other one."""
    (low, high), (other_low, other_high) = (
        share_interval(some, whole, z),
        share_interval(other_some, other_whole, z),
    )
    share = some / whole if whole else 0.5
    other = other_some / other_whole if other_whole else 0.5
    down = sqrt((share - low) ** 2 + (other_high - other) ** 2)
    up = sqrt((high - share) ** 2 + (other - other_low) ** 2)
    return share - other - down, share - other + up


def count_interval(count: float, other: float) -> Interval:
    """Return the interval of the first count minus the other one, of equally many days."""
    half = USUAL * sqrt(count + other)
    return count - other - half, count - other + half


def is_significant(interval: Interval) -> bool:
    """Return whether zero is outside of the interval of a difference."""
    return interval[0] > 0 or interval[1] < 0


def is_far(counts: Counts, other: Counts) -> bool:
    """Return whether two shares differ by more than chance at the strict quantile; not without cases."""
    return bool(counts[1] and other[1]) and is_significant(difference_interval(*counts, *other, STRICT))


def distance(counts: Counts, other: Counts) -> float:
    """Return the difference of two shares in half widths of its strict interval."""
    low, high = difference_interval(*counts, *other, STRICT)
    return abs(counts[0] / counts[1] - other[0] / other[1]) / ((high - low) / 2)


@dataclass(frozen=True, slots=True)
class Outlier:
    """A member whose share differs from that of the others by more than chance. `among` are the others."""

    name: str
    counts: Counts
    others: Counts
    among: frozenset[str]

    @property
    def difference(self) -> float:
        """The share minus that of the others."""
        return self.counts[0] / self.counts[1] - self.others[0] / self.others[1]


def outliers(members: Mapping[str, Counts]) -> list[Outlier]:
    """Return the members that differ from the others, the farthest first.

    The farthest one is no longer one of the others for the rest: beside it each of them would stand out.
    """
    left, found = dict(members), list[Outlier]()
    while True:
        some, whole = (sum(counts[place] for counts in left.values()) for place in (0, 1))
        beside = {name: (some - counts[0], whole - counts[1]) for name, counts in left.items()}
        far = [name for name, counts in left.items() if is_far(counts, beside[name])]
        if not far:
            return found
        name = max(far, key=lambda name: distance(left[name], beside[name]))
        counts = left.pop(name)
        found.append(Outlier(name, counts, beside[name], frozenset(left)))


Ends = Mapping[str | None, float]
"""The cases that did not go well, as shares of all cases, by how they ended."""

_MADE_UP = 0.005
"""The ends make up a difference if they miss it by at most half a point: then each is a part of it."""

_HALF, _WHOLE = 0.5 + 1e-9, 1 + 1e-9
"""More than one half and more than all of it, whatever the last bits of a sum."""


def largest_part(here: Ends, there: Ends, difference: float, number: Callable[[float, int], str]) -> str:
    """Return the sentence, after a space; empty if the ends do not make up the difference.

    `difference` is the share of the good ends here minus the one there. `number` formats points, with digits.
    """
    ends = here.keys() | there.keys()
    # More bad ends are a lower share: the sign of a part is that of what it does to the share.
    parts = {end: there.get(end, 0.0) - here.get(end, 0.0) for end in ends}
    if not difference or abs(sum(parts.values()) - difference) > _MADE_UP:
        return ""
    of_it = {end: part / difference for end, part in parts.items()}
    end = max(sorted(of_it, key=str), key=of_it.__getitem__)
    digits = 0 if abs(difference) >= 0.1 else 1  # noqa: PLR2004 - ten points
    points, whole = (number(abs(value) * 100, digits) for value in (parts[end], difference))
    name = (end or "not said").replace("_", " ").capitalize()
    if of_it[end] > _WHOLE:
        good = number((abs(parts[end]) - abs(difference)) * 100, digits)
        return f" Mostly \u201c{name}\u201d: {points} points, of which others made up for {good}."
    if of_it[end] > _HALF:
        return f" Mostly \u201c{name}\u201d: {points} of {whole} points."
    return f" Largest part: \u201c{name}\u201d, {points} of {whole} points."
