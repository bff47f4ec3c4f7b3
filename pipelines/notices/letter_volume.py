"""The inbound calls of a week beside the week before and the usual range: a dead line changes no share. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from pipelines.loading.published.figures.periods import Baseline, PeriodValue, baseline

LABEL = "Calls"
WEEKS_SHOWN = 13

WeekCounts = Mapping[date, int]
"""A count by closed week."""


@dataclass(frozen=True, slots=True)
class Volume:
    """The calls of a week.

    Attributes:
        week: The Monday; `None` if no week is closed.
        count: The calls of all practices that have closed the week.
        now: The calls of those that have closed the week before too.
        before: The calls of the same practices in the week before; `None` if there is no such practice.
        known: The calls of the practices whose usual range is known.
        usual: The usual range of the same practices; `None` if there is no such practice.
        history: The calls of the last weeks, of the practices that have closed all of them.
    """

    week: date | None
    count: int = 0
    now: int = 0
    before: int | None = None
    known: int = 0
    usual: Baseline | None = None
    history: tuple[float | None, ...] = ()

    @property
    def is_low(self) -> bool:
        """Return whether fewer calls came than usual."""
        return self.usual is not None and self.known < self.usual.low

    @property
    def is_high(self) -> bool:
        """Return whether more calls came than usual."""
        return self.usual is not None and self.known > self.usual.high


def volume_of(weeks: Mapping[str, WeekCounts], practices: Sequence[str], week: date | None) -> Volume:
    """Return the calls of these practices in a week."""
    if week is None:
        return Volume(None)
    here = [weeks[key] for key in practices if week in weeks.get(key, {})]
    earlier = week - timedelta(days=7)
    both = [own for own in here if earlier in own]
    known = [own for own in here if usual_of(own, week)]
    starts = [week - timedelta(days=7 * back) for back in range(WEEKS_SHOWN - 1, -1, -1)]
    return Volume(
        week,
        sum(own[week] for own in here),
        sum(own[week] for own in both),
        sum(own[earlier] for own in both) if both else None,
        sum(own[week] for own in known),
        usual_of(_together(known), week),
        tuple(sum(own[start] for own in known) if _all_have(known, start) else None for start in starts),
    )


def usual_of(counts: WeekCounts, week: date) -> Baseline | None:
    """Return the usual range of a week's count by the weeks before; `None` if too few are known."""
    values = [PeriodValue(start, count) for start, count in sorted(counts.items()) if start <= week]
    return baseline(values, len(values) - 1, {}, is_count=True) if values else None


def _together(members: Sequence[WeekCounts]) -> WeekCounts:
    """Return the sums of the weeks that all members have."""
    starts = {start for own in members for start in own}
    return {start: sum(own[start] for own in members) for start in starts if _all_have(members, start)}


def _all_have(members: Sequence[WeekCounts], start: date) -> bool:
    return bool(members) and all(start in own for own in members)


def volume_value(volume: Volume) -> str:
    """Return the count, for people."""
    return "\u2013" if volume.week is None else f"{volume.count:,}"


def volume_change(volume: Volume) -> str:
    """Return the week before and the usual range, in words."""
    if volume.before is None:
        return "no week before to compare with"
    others = "" if volume.now == volume.count else f" ({volume.now:,} now, of the same practices)"
    return f"before {volume.before:,}{others}; {range_words(volume.usual, volume.known)}"


def range_words(usual: Baseline | None, known: int) -> str:
    """Return the usual range and the side of it on which a count is."""
    if usual is None:
        return "what is usual is not known yet"
    ends = f"{max(usual.low, 0):,.0f} to {usual.high:,.0f}"
    side = "fewer than" if known < usual.low else "more than" if known > usual.high else ""
    return f"{side} the usual {ends}" if side else f"usual are {ends}"
