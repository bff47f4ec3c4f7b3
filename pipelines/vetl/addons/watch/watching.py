"""Find the episodes in which a practice is outside of a threshold. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import Literal

from vetl.addons.watch.settings import Threshold
from vetl.figures.periods import PeriodValue, Series

Judgement = Literal["in", "out", "unknown"]

_DAYS_INSIDE = 3
"""An episode of days ends after so many days in a row that are in: a campaign has quiet Saturdays and Sundays."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A closed period and the judgement about its value."""

    value: PeriodValue
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Episode:
    """Closed periods in a row that are out, long enough to ring.

    It rings with the period `rings_at`, and ends with the first later period that is in.
    """

    began: date
    rings_at: date
    last: Judged
    ended: date | None


@dataclass(frozen=True, slots=True)
class Watched:
    """One threshold at one practice: every closed period, and the episodes in them."""

    threshold: Threshold
    practice_id: str
    practice: str
    words: str
    unit: str
    judged: Sequence[Judged]
    episodes: Sequence[Episode]

    @property
    def key(self) -> str:
        """Return the name of the threshold in the ledger. Another rule has another name."""
        rule = self.threshold.model_dump_json(exclude={"to", "practices"})
        return sha256(rule.encode()).hexdigest()[:16]

    @property
    def through(self) -> date | None:
        """Return the start of the last closed period."""
        return self.judged[-1].value.start if self.judged else None

    @property
    def open(self) -> Episode | None:
        """Return the episode that has not ended."""
        return self.episodes[-1] if self.episodes and self.episodes[-1].ended is None else None


def watched(threshold: Threshold, series: Series, names: dict[str, str]) -> list[Watched]:
    """Judge a threshold at each practice of a series; `names` are the names of practices by id."""
    found: list[Watched] = []
    words, unit = series.metric.words, series.metric.unit
    for practice in series.practices:
        judged = judge(threshold, series, practice)
        its = episodes(judged, threshold.periods, _DAYS_INSIDE if threshold.by == "day" else 1)
        found.append(Watched(threshold, practice, names.get(practice, practice), words, unit, judged, its))
    return found


def judge(threshold: Threshold, series: Series, practice: str) -> list[Judged]:
    """Judge each closed period; a holiday says nothing."""
    return [
        Judged(value, "unknown" if series.is_holiday(practice, at) else _judgement(threshold, value))
        for at, value in enumerate(series.practices[practice])
    ]


def _judgement(threshold: Threshold, value: PeriodValue) -> Judgement:
    if value.value is None or (value.cases is not None and value.cases < threshold.least):
        return "unknown"
    is_above = threshold.above is not None and value.value > threshold.above
    is_below = threshold.below is not None and value.value < threshold.below
    return "out" if is_above or is_below else "in"


def episodes(judged: Sequence[Judged], periods: int, ends_after: int = 1) -> list[Episode]:
    """Return the episodes of at least so many periods.

    An episode ends with the first of `ends_after` periods in a row that are in. A period that says nothing neither
    begins nor ends one.
    """
    found: list[Episode] = []
    run: list[Judged] = []
    inside: list[Judged] = []
    for one in judged:
        rings = len(run) >= periods
        if one.judgement == "out":
            run.append(one)
            inside = []
        elif one.judgement != "unknown":
            inside.append(one)
            if not rings or len(inside) == ends_after:
                found += _episode(run, periods, inside[0].value.start)
                run, inside = [], []
    return found + _episode(run, periods, None)


def _episode(run: Sequence[Judged], periods: int, ended: date | None) -> list[Episode]:
    if len(run) < periods:
        return []
    return [Episode(run[0].value.start, run[periods - 1].value.start, run[-1], ended)]


def line(watched_one: Watched, episode: Episode) -> str:
    """Return the sentence about an episode: the practice, its last value, and the limit."""
    last, threshold = episode.last, watched_one.threshold
    value = amount(last.value.value, watched_one.unit)
    of = f" of {last.value.cases:,} cases" if last.value.cases is not None else ""
    where = _where(threshold)
    when = f"on {last.value.start}" if threshold.by == "day" else f"in the week of {last.value.start}"
    return f"{watched_one.practice}: {watched_one.words}{where} {when}: {value}{of}; out is {threshold.limit}"


def first_line(watched_one: Watched, episode: Episode) -> str:
    """Return the sentence about an episode that rings; it may have lasted, and be over already."""
    ended = episode.ended
    since = "" if episode.began == episode.last.value.start else f"; out since {episode.began}"
    over = f"; again as it should be since {ended}{_at(watched_one, ended)}" if ended else ""
    return f"{line(watched_one, episode)}{since}{over}"


def end_line(watched_one: Watched, began: date, ended: date | None) -> str:
    """Return the sentence about the end of an episode; without a day the figures were corrected."""
    how = f"since {ended}{_at(watched_one, ended)}" if ended else "after a correction of the data"
    what = f"{watched_one.words}{_where(watched_one.threshold)}"
    return f"{watched_one.practice}: {what} is again as it should be {how} (was out since {began})"


def _at(watched_one: Watched, start: date) -> str:
    """Return the value of a period, for people."""
    values = [amount(one.value.value, watched_one.unit) for one in watched_one.judged if one.value.start == start]
    return f", with {values[0]}" if values else ""


def _where(threshold: Threshold) -> str:
    """Return the rows that count, for people: ` (inbound)` for `direction=inbound`."""
    words = [one if set(one) & set("!<>") else one.partition("=")[2] for one in threshold.where]
    return f" ({', '.join(words)})" if words else ""


def amount(value: float | None, unit: str) -> str:
    """Return a value with its unit: a share as a percentage."""
    if value is None:
        return "nothing"
    if unit.startswith("share"):
        return f"{value:.0%}" if value >= 0.1 else f"{value:.1%}"  # noqa: PLR2004 - ten percent
    return f"{value:,.0f}" if unit in {"count", "people"} else f"{value:,.1f} {unit}"
