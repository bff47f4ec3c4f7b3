"""The inbound calls of a week beside the week before and the usual range: a dead line changes no share. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import hypot

from vetl.addons.watch.settings import Threshold
from vetl.addons.watch.watching import judge
from vetl.figures.periods import Baseline, Series

LABEL = "Inbound calls"
RULE = Threshold(measure="calls", where=("direction=inbound",), by="week", unusual=True)
"""The calls of the letter, and the rule by which their usual range is known."""

WEEKS_SHOWN = 13
_SEASON = 0.1
"""A season moves the calls of all practices together by so much within weeks."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of a practice in a closed week, and their usual range; `None` if too little is known."""

    count: int
    usual: Baseline | None


CallWeeks = Mapping[date, Calls]
"""The calls by closed week."""


def call_weeks(series: Series) -> dict[str, dict[date, Calls]]:
    """Return the calls of each practice by closed week."""
    return {
        practice: {
            one.value.start: Calls(int(one.value.value or 0), one.usual) for one in judge(RULE, series, practice)
        }
        for practice in series.practices
    }


@dataclass(frozen=True, slots=True)
class Volume:
    """The calls of a week.

    Attributes:
        week: The Monday; `None` if no week is closed.
        count: The calls of all practices that have closed the week.
        compared: The calls of those that can be compared: they have closed the week before, and if any has a usual
            range, they have one.
        before: The calls of the same practices in the week before; `None` if there is no such practice.
        usual: Their usual range.
        history: Their calls in the last weeks.
    """

    week: date | None
    count: int = 0
    compared: int = 0
    before: int | None = None
    usual: Baseline | None = None
    history: tuple[float | None, ...] = ()

    @property
    def is_low(self) -> bool:
        """Return whether fewer calls came than usual."""
        return self.usual is not None and self.compared < self.usual.low


def volume_of(weeks: Mapping[str, CallWeeks], practices: Sequence[str], week: date | None) -> Volume:
    """Return the calls of these practices in a week."""
    if week is None:
        return Volume(None)
    here = [weeks[key] for key in practices if week in weeks.get(key, {})]
    earlier = week - timedelta(days=7)
    both = [own for own in here if earlier in own]
    known = [own for own in both if own[week].usual]
    compared = known or both
    starts = [week - timedelta(days=7 * back) for back in range(WEEKS_SHOWN - 1, -1, -1)]
    return Volume(
        week,
        sum(own[week].count for own in here),
        sum(own[week].count for own in compared),
        _sum(compared, earlier),
        _together([own[week].usual for own in known]),
        tuple(_sum(compared, start) for start in starts),
    )


def _sum(members: Sequence[CallWeeks], start: date) -> int | None:
    """Return the calls of a week; `None` unless all members have closed it."""
    if not members or not all(start in own for own in members):
        return None
    return sum(own[start].count for own in members)


def _together(ranges: Sequence[Baseline | None]) -> Baseline | None:
    """Return the usual range of the sum: practices differ independently, except for the season."""
    known = [one for one in ranges if one]
    if len(known) <= 1:
        return known[0] if known else None
    usual = sum(one.usual for one in known)
    least = _SEASON * usual
    down = max(hypot(*(one.usual - one.low for one in known)), least)
    up = max(hypot(*(one.high - one.usual for one in known)), least)
    return Baseline(usual, usual - down, usual + up)


def volume_value(volume: Volume) -> str:
    """Return the count, for people."""
    return "\u2013" if volume.week is None else f"{volume.count:,}"


def volume_change(volume: Volume) -> str:
    """Return the week before and the usual range, in words."""
    if volume.before is None:
        return "no week before to compare with"
    new = f"without new practices {volume.compared:,}, " if volume.compared < volume.count else ""
    return f"{new}before {volume.before:,}; {range_words(volume.usual, volume.compared)}"


def range_words(usual: Baseline | None, count: int) -> str:
    """Return the usual range and the side of it on which a count is."""
    if usual is None:
        return "what is usual is not known yet"
    ends = f"{max(usual.low, 0):,.0f} to {usual.high:,.0f}"
    side = "fewer than" if count < usual.low else "more than" if count > usual.high else ""
    return f"{side} the usual {ends}" if side else f"usual are {ends}"
