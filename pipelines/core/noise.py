"""The difference between a change and chance: 95 % intervals of shares, of differences and of counts.

A difference has an arrow and a colour only if zero is outside of its interval. The intervals of shares are those
of Wilson, and of their difference those of Newcombe, which stay sound for small counts. A count is taken for a
Poisson count.
"""

from math import sqrt

USUAL = 1.96
"""The normal quantile of an interval that holds the truth 95 times of 100."""

STRICT = 3.0
"""The normal quantile if many practices and figures are looked at: by chance three of a thousand are outside."""

Interval = tuple[float, float]


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


def is_more_than_noise(interval: Interval) -> bool:
    """Return whether zero is outside of the interval of a difference."""
    return interval[0] > 0 or interval[1] < 0
