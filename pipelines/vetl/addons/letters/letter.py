"""The letter about a week: its content as plain values, from counts of closed weeks. No I/O."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal
from urllib.parse import urlencode

from vetl.core.significance import Counts, Outlier, distance, is_far, outliers
from vetl.core.text import day_words, some_of

CALLS = "Inbound calls"
FEW = 30
WEEKS_SHOWN = 13

CallWeeks = Mapping[date, int]
"""The inbound calls of a practice by closed week."""

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
class Volume:
    """The calls of a week: a line that dies changes no share.

    `count` are those of all practices that have closed the week; `compared`, `before` and `history` are of those
    that have closed the week before, too. `before` is `None` without such a practice.
    """

    week: date | None
    count: int = 0
    compared: int = 0
    before: int | None = None
    history: tuple[float | None, ...] = ()


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
    outliers: tuple[str, ...]
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
        return f"Week of {day_words(self.week)}: {where}"

    @property
    def list_link(self) -> str | None:
        """Return the address of the call-back list of these practices; it names nobody."""
        return f"{self.link}/call-back?{urlencode([('practice', key) for key in self.ids])}" if self.link else None

    @property
    def people(self) -> int:
        """Return the number of people who wait for a call."""
        return sum(number for _, number in self.waiting)


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
    history = [share(total(own[start] for own in here if start in own)) for start in _weeks_through(week)]
    return LetterFigure(
        measure.label,
        measure.of,
        week,
        total(own[week] for own in here),
        total(own[week] for own in both),
        total(own[earlier] for own in both),
        tuple(history),
    )


def volume_of(weeks: Mapping[str, CallWeeks], practices: Sequence[str], week: date | None) -> Volume:
    """Return the calls of these practices in a week."""
    if week is None:
        return Volume(None)
    here = [weeks[key] for key in practices if week in weeks.get(key, {})]
    earlier = week - timedelta(days=7)
    both = [own for own in here if earlier in own]
    return Volume(
        week,
        sum(own[week] for own in here),
        sum(own[week] for own in both),
        _sum(both, earlier),
        tuple(_sum(both, start) for start in _weeks_through(week)),
    )


def _sum(members: Sequence[CallWeeks], start: date) -> int | None:
    """Return the calls of a week; `None` unless all members have closed it."""
    return sum(own[start] for own in members) if members and all(start in own for own in members) else None


def _weeks_through(week: date) -> list[date]:
    return [week - timedelta(days=7 * back) for back in range(WEEKS_SHOWN - 1, -1, -1)]


def outside(weeks: Mapping[str, Weeks], practices: Sequence[str], most: int) -> list[tuple[ShareOf, Outlier]]:
    """Return the practices of which a figure differs from that of the others by more than chance, the farthest."""
    found: list[tuple[ShareOf, Outlier]] = []
    for measure in SHARES:
        of, week = weeks[measure.key], newest_week(weeks[measure.key], practices)
        own = {key: of[key][week] for key in practices if week in of.get(key, {})} if week else {}
        found += [(measure, one) for one in outliers(own)]
    return sorted(found, key=lambda pair: -distance(pair[1].counts, pair[1].others))[:most]


ClosedWeeks = tuple[date | None, Mapping[str, Mapping[date, object]]]
"""The week of a figure, and the closed weeks of each practice for it."""


def uncertain(
    names: Mapping[str, str], closed: Mapping[str, ClosedWeeks], figures: Sequence[LetterFigure]
) -> list[str]:
    """Return the sentences; `names` are those of the letter's practices, `closed` is by label of the figure."""
    none = [label for label, (week, _) in closed.items() if week is None]
    lines = [f"No week is closed yet: {_quoted(none)}."] if none else []
    lines += _left_out(names, closed)
    few = [f"{figure.label} ({figure.counts[1]})" for figure in figures if 0 < figure.counts[1] < FEW]
    lines += [f"Few cases, which say little: {', '.join(few)}."] if few else []
    of: dict[date, list[str]] = {}
    for label, (week, _) in closed.items():
        if week:
            of.setdefault(week, []).append(label)
    for week in sorted(of)[:-1]:
        lines.append(f"Of the week of {day_words(week)}, as later weeks may still change: {_quoted(of[week])}.")
    return lines


def _left_out(names: Mapping[str, str], closed: Mapping[str, ClosedWeeks]) -> list[str]:
    """Return one sentence for all practices that are left out of the same figures for the same reason."""
    known = {label: (week, of) for label, (week, of) in closed.items() if week}
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for key, name in names.items():
        without = tuple(label for label, (week, of) in known.items() if week not in of.get(key, {}))
        first = min((start for _, of in known.values() for start in of.get(key, {})), default=None)
        is_new = first is not None and all(first > week for week, _ in (known[label] for label in without))
        groups.setdefault(("Too new for" if is_new else "Not read whole, so left out of", without), []).append(
            name
        )
    return [
        f"{reason} {'all figures' if len(without) == len(known) else _quoted(without)}: {some_of(members)}."
        for (reason, without), members in groups.items()
        if without
    ]


def _quoted(labels: Sequence[str]) -> str:
    return ", ".join(f"\u201c{label}\u201d" for label in labels)


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
