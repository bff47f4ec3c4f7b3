"""The letter about a week: its content as plain values, from counts of closed weeks. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal
from urllib.parse import urlencode

from vetl.addons.letters.letter_volume import WEEKS_SHOWN, Volume
from vetl.core.noise import Counts, distance, is_far, outliers

FEW = 30

Weeks = Mapping[str, Mapping[date, Counts]]
"""The counts of each practice by closed week."""


@dataclass(frozen=True, slots=True)
class ShareOf:
    """One of the figures: a share, the metrics that it divides, and the rows that they count."""

    key: str
    label: str
    some: str
    whole: str
    of: str
    where: tuple[str, ...] = ()


CALLERS = "callers, each once a day"

SHARES = (
    ShareOf("answered", "Calls answered", "answered_calls", "calls", "inbound calls", ("direction=inbound",)),
    ShareOf("callers", "Callers booked", "booked_within_7_days", "new_booking_callers", CALLERS),
    ShareOf("won_back", "Missed, won back", "recovered_within_7_days", "missed_callers", CALLERS),
    ShareOf("online", "Online, completed", "sessions_completed", "sessions", "sessions"),
    ShareOf("outreach", "Outreach, booked", "outreach_booked", "outreach_contacted", "contacted"),
)


@dataclass(frozen=True, slots=True)
class LetterFigure:
    """A figure of its newest closed week. `now` and `before` are of the practices that have both weeks."""

    label: str
    of: str
    week: date | None
    counts: Counts
    now: Counts
    before: Counts
    history: tuple[float | None, ...]

    @property
    def share(self) -> float | None:
        """Return the share of the week; `None` without a case."""
        return share(self.counts)

    @property
    def change(self) -> float | None:
        """Return the difference to the week before."""
        now, before = share(self.now), share(self.before)
        return None if now is None or before is None else now - before

    @property
    def is_change(self) -> bool:
        """Return whether the difference is more than chance, by the strict quantile.

        Of five figures a week one would be outside of its 95 % interval every fourth letter.
        """
        return is_far(self.now, self.before)


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure in words: its value, the change, and the cases and the week behind it."""

    label: str
    value: str
    change: str
    basis: str
    tone: Literal["good", "bad", ""]
    history: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, and the words in it that are said first."""

    head: str
    text: str


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter to one reader. `rows` are the practices with their calls and the share of each figure, in words."""

    reader: str
    week: date
    practices: tuple[str, ...]
    ids: tuple[str, ...]
    headlines: tuple[str, ...]
    volume: Volume
    figures: tuple[LetterFigure, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    changes: tuple[Line, ...]
    outliers: tuple[Line, ...]
    out: tuple[str, ...]
    ahead: tuple[str, ...]
    waiting: tuple[tuple[str, int], ...]
    done: tuple[str, ...]
    uncertain: tuple[str, ...]
    link: str | None = None

    @property
    def subject(self) -> str:
        """Return the subject of the mail."""
        where = self.practices[0] if len(self.practices) == 1 else f"{len(self.practices)} practices"
        return f"{week_words(self.week)}: {where}"

    @property
    def list_link(self) -> str | None:
        """Return the address of the call-back list of these practices; it names nobody."""
        return f"{self.link}/call-back?{urlencode([('practice', key) for key in self.ids])}" if self.link else None

    @property
    def people(self) -> int:
        """Return the number of people who wait for a call."""
        return sum(number for _, number in self.waiting)


@dataclass(frozen=True, slots=True)
class Found:
    """A difference that is more than chance by three standard errors, of a figure at a practice.

    `other` are the counts of the week before, or those of the practices `others`.
    """

    measure: ShareOf
    practice_id: str
    week: date
    now: Counts
    other: Counts
    others: tuple[str, ...] = ()

    @property
    def difference(self) -> float:
        """Return the share minus the other one."""
        return (share(self.now) or 0.0) - (share(self.other) or 0.0)

    @property
    def weight(self) -> float:
        """Return how many half intervals wide the difference is."""
        return distance(self.now, self.other)


def newest_week(weeks: Mapping[str, Mapping[date, object]], practices: Sequence[str]) -> date | None:
    """Return the newest week that at least half of the practices have closed."""
    ends = sorted((max(weeks[key]) for key in practices if weeks.get(key)), reverse=True)
    return ends[(len(practices) - 1) // 2] if len(ends) * 2 >= len(practices) and ends else None


def figure_of(measure: ShareOf, weeks: Weeks, practices: Sequence[str]) -> LetterFigure:
    """Return a figure over these practices."""
    week = newest_week(weeks, practices)
    if week is None:
        return LetterFigure(measure.label, measure.of, None, (0, 0), (0, 0), (0, 0), ())
    earlier = week - timedelta(days=7)
    here = [weeks[key] for key in practices if week in weeks.get(key, {})]
    both = [own for own in here if earlier in own]
    starts = [week - timedelta(days=7 * back) for back in range(WEEKS_SHOWN - 1, -1, -1)]
    history = [share(total(own[start] for own in here if start in own)) for start in starts]
    return LetterFigure(
        measure.label,
        measure.of,
        week,
        total(own[week] for own in here),
        total(own[week] for own in both),
        total(own[earlier] for own in both),
        tuple(history),
    )


def changed(measure: ShareOf, weeks: Weeks, practices: Sequence[str]) -> list[Found]:
    """Return the practices whose figure differs from their week before by more than chance."""
    week = newest_week(weeks, practices)
    if week is None:
        return []
    earlier = week - timedelta(days=7)
    pairs = [(key, weeks[key]) for key in practices if {week, earlier} <= weeks.get(key, {}).keys()]
    return [
        Found(measure, key, week, own[week], own[earlier]) for key, own in pairs if is_far(own[week], own[earlier])
    ]


def outside(measure: ShareOf, weeks: Weeks, practices: Sequence[str]) -> list[Found]:
    """Return the practices whose figure differs from that of the others by more than chance."""
    week = newest_week(weeks, practices)
    if week is None:
        return []
    own = {key: weeks[key][week] for key in practices if week in weeks.get(key, {})}
    return [
        Found(measure, one.name, week, one.counts, one.others, tuple(sorted(one.among))) for one in outliers(own)
    ]


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sums of counts."""
    pairs = list(counts)
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)


def share(counts: Counts) -> float | None:
    """Return the share, or `None` without a case."""
    return counts[0] / counts[1] if counts[1] else None


def percent(value: float | None) -> str:
    """Return a share as a percentage, with one digit below ten."""
    if value is None:
        return "\u2013"
    return f"{value:.1%}" if abs(value) < 0.1 else f"{value:.0%}"  # noqa: PLR2004 - ten percent


def points(value: float) -> str:
    """Return a difference of shares in points, with its sign."""
    return f"{value * 100:+.1f} points"


def day_words(day: date) -> str:
    """Return a day: `12 January 2026`."""
    return f"{day.day} {day:%B %Y}"


def week_words(monday: date) -> str:
    """Return a week: `Week of 12 January 2026`."""
    return f"Week of {day_words(monday)}"
