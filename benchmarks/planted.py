"""Made-up years of practices, with one of twelve facts at a day, to see whether the headlines name it.

The generator knows nothing of the sandbox: practices of several sizes, with weekdays, a season, holidays, days
that scatter more than chance, shares that wander. It makes the counts that `vetl.store.control.facts` reads
from the marts, and everything after them is vetl's own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import polars as pl
from vetl.headlines.finding import Headline, facts_of, kept
from vetl.headlines.measures import Days, days_of
from vetl.headlines.surprise import Fact
from vetl.jobs.headlines import MOST

FIRST = date(2024, 1, 1)
LENGTH = 400
MATURES = {"opted_out": 4, "task_done": 4}
"""After so many days the marts count these."""

_WEEKDAYS = np.array([1.25, 1.05, 1.0, 1.0, 1.1, 0.5, 0.1])
_OPENS = 8
_FRIDAY = 4
_NO_CALLS = 0.25
_BY_HOUR = np.array([1.3, 1.4, 1.3, 1.1, 0.8, 0.9, 1.0, 1.1, 1.0, 0.7]) / 10.6
SOURCES = ("google", "website", "facebook", "newsletter")
STEPS = ("details", "pet", "reason", "slot")
PURPOSES = ("recall", "follow_up", "refill")


@dataclass(frozen=True)
class Planted:
    """A fact: the practice, its kind, its first day, and the day after which it can be known."""

    practice_id: str
    kind: str
    begins: int
    known: int
    part: str | None = None


class Year:
    """A practice's year as arrays by day, which a fact changes before the cases are drawn."""

    def __init__(self, dice: np.random.Generator, name: str) -> None:
        self.dice, self.name = dice, name
        days = np.arange(LENGTH)
        self.weekday = (days + FIRST.weekday()) % 7
        self.is_open = np.isin(self.weekday, range(6))
        holidays = dice.choice(LENGTH, size=9, replace=False)
        season = 1 + dice.uniform(0.05, 0.25) * np.sin(2 * np.pi * (days / 365 + dice.random()))
        self.busy = _WEEKDAYS[self.weekday] * season
        self.busy[holidays] *= 0.05
        self.rested = np.ones(LENGTH)
        self.rested[holidays] = 0.05
        size = float(dice.choice([20, 35, 60, 100]))
        self.volumes = {
            "inside": size * (1 - (out := dice.uniform(0.12, 0.22))) * self.busy * self.is_open,
            "outside": size * out * self.rested * np.where(self.is_open, 1.0, 2.0),
            "emergencies": dice.uniform(1.0, 3.0) * self.rested,
            "sessions": size * dice.uniform(0.25, 0.45) * season,
            "outreach": size * dice.uniform(0.12, 0.25) * self.is_open * self.rested,
            "visits": size * dice.uniform(0.5, 0.8) * self.busy * self.is_open,
            "tasks": size * dice.uniform(0.15, 0.3) * self.busy,
        }
        self.by_hour = np.tile(_BY_HOUR, (LENGTH, 1))
        self.answered = np.tile(self._share(dice.uniform(0.78, 0.92))[:, None], (1, len(_BY_HOUR)))
        self.shares = {
            "handed_over": self._share(dice.uniform(0.25, 0.4)),
            "emergency_lost": self._share(dice.uniform(0.06, 0.14)),
            "call_booked": self._share(dice.uniform(0.5, 0.75)),
            "opted_out": self._share(dice.uniform(0.03, 0.08)),
            "no_show": self._share(dice.uniform(0.05, 0.09)),
            "task_done": self._share(dice.uniform(0.82, 0.93)),
        }
        self.sources = np.tile(dice.dirichlet([8, 7, 5, 4]), (LENGTH, 1))
        left = dice.uniform(0.06, 0.18, size=len(STEPS))
        self.left = np.tile(left, (LENGTH, 1))
        self.purposes = np.tile(dice.dirichlet([8, 5, 4]), (LENGTH, 1))

    def _share(self, usual: float) -> np.ndarray:
        """Return a share by day that scatters and wanders."""
        wander = np.cumsum(self.dice.normal(0, 0.012, LENGTH))
        weekday = self.dice.normal(0, 0.08, 7)[self.weekday]
        logit = np.log(usual / (1 - usual)) + wander - wander.mean() + weekday + self.dice.normal(0, 0.15, LENGTH)
        return 1 / (1 + np.exp(-logit))

    def counts(self) -> pl.DataFrame:
        """Draw the cases, and return them as the marts count them."""
        dice = self.dice
        drawn = {
            name: dice.poisson(mean * dice.lognormal(-0.01, 0.15, LENGTH)) for name, mean in self.volumes.items()
        }
        hours = dice.poisson(
            self.volumes["inside"][:, None] * dice.lognormal(-0.01, 0.15, (LENGTH, 1)) * self.by_hour
        )
        answered = dice.binomial(hours, self.answered)
        inside = hours.sum(axis=1)
        frames: list[pl.DataFrame] = []

        def add(measure: str, some: np.ndarray, whole: np.ndarray | None, part: str | None = None) -> None:
            frames.append(_frame(self.name, measure, part, some, whole))

        for number in range(len(_BY_HOUR)):
            hour = _OPENS + number
            frames.append(_frame(self.name, "answered", None, answered[:, number], hours[:, number], hour))
            frames.append(_frame(self.name, "calls", None, hours[:, number], None, hour))
        talked = dice.binomial(answered.sum(axis=1), 0.8)
        add("handed_over", dice.binomial(talked, self.shares["handed_over"]), talked)
        add("after_hours", drawn["outside"], inside + drawn["outside"])
        add(
            "emergency_lost",
            dice.binomial(drawn["emergencies"], self.shares["emergency_lost"]),
            drawn["emergencies"],
        )
        wished = dice.binomial(answered.sum(axis=1), 0.25)
        add("call_booked", dice.binomial(wished, self.shares["call_booked"]), wished)
        sessions = drawn["sessions"]
        add("sessions", sessions, None)
        for part, some in zip(SOURCES, _split(dice, sessions, self.sources), strict=False):
            add("source", some, sessions, part)
        steps = _split(dice, sessions, self.left)
        for part, some in zip(STEPS, steps, strict=False):
            add("step_left", some, sessions, part)
        add("completed", steps[-1], sessions)
        requests = _split(dice, drawn["outreach"], self.purposes)
        for part, some in zip(PURPOSES, requests, strict=False):
            add("purpose", some, None, part)
        contacted = dice.binomial(drawn["outreach"], 0.85)
        add("outreach", contacted, None)
        add("opted_out", dice.binomial(contacted, self.shares["opted_out"]), contacted)
        add("visits", drawn["visits"], None)
        add("no_show", dice.binomial(drawn["visits"], self.shares["no_show"]), drawn["visits"])
        add("task_done", dice.binomial(drawn["tasks"], self.shares["task_done"]), drawn["tasks"])
        return pl.concat(frames)


def _frame(
    name: str, measure: str, part: str | None, some: np.ndarray, whole: np.ndarray | None, hour: int | None = None
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "practice_id": name,
            "measure": measure,
            "part": pl.Series([part] * LENGTH, dtype=pl.String),
            "day": [FIRST + timedelta(days=number) for number in range(LENGTH)],
            "hour": pl.Series([hour] * LENGTH, dtype=pl.Int64),
            "some": some.astype(np.int64),
            "whole": (np.zeros(LENGTH) if whole is None else whole).astype(np.int64),
        }
    )


def _split(dice: np.random.Generator, whole: np.ndarray, shares: np.ndarray) -> list[np.ndarray]:
    """Split cases into parts by their shares; the last part is the rest."""
    parts, left, rest = list[np.ndarray](), whole, np.ones(len(whole))
    for number in range(shares.shape[1]):
        some = dice.binomial(left, np.clip(shares[:, number] / np.maximum(rest, 1e-9), 0, 1))
        parts.append(some)
        left, rest = left - some, rest - shares[:, number]
    return [*parts, left]


def _after(volume: np.ndarray, begins: int, cases: float) -> int:
    """Return the day through which so many cases are expected since a day; at least the third one."""
    return begins + max(int(np.searchsorted(np.cumsum(volume[begins:]), cases)), 2)


def _line_down(year: Year, at: int) -> Planted:
    while year.weekday[at] > _FRIDAY or year.rested[at] < 1:
        at += 1
    year.answered[at, : 4 + int(year.dice.integers(2))] *= year.dice.uniform(0, 0.12)
    return Planted(year.name, "line", at, at)


def _no_calls(year: Year, at: int) -> Planted:
    while year.weekday[at] > _FRIDAY or year.rested[at] < 1:
        at += 1
    year.by_hour[at, : 4 + int(year.dice.integers(2))] *= 0.03
    return Planted(year.name, "line", at, at)


def _line(year: Year, at: int) -> Planted:
    """A line that is down for a morning: calls ring in vain, or (one of four) do not even come."""
    return _no_calls(year, at) if year.dice.random() < _NO_CALLS else _line_down(year, at)


def _weekday(year: Year, at: int) -> Planted:
    number = int(year.dice.integers(5))
    hit = (year.weekday == number) & (np.arange(LENGTH) >= at)
    year.answered[hit] *= year.dice.uniform(0.4, 0.65)
    return Planted(year.name, "weekday", at, int(np.flatnonzero(hit & (year.rested == 1))[2]), str(number))


def _fall(year: Year, at: int) -> Planted:
    ramp = np.clip((np.arange(LENGTH) - at) / 42, 0, 1)
    year.answered *= (1 - year.dice.uniform(0.18, 0.35) * ramp)[:, None]
    return Planted(year.name, "fall", at, at + 42)


def _step(year: Year, at: int) -> Planted:
    number = int(year.dice.integers(len(STEPS)))
    year.left[at:, number] += year.dice.uniform(0.18, 0.3)
    return Planted(year.name, "step", at, _after(year.volumes["sessions"], at, 60), STEPS[number])


def _source(year: Year, at: int) -> Planted:
    number = int(year.dice.integers(len(SOURCES)))
    lost = year.volumes["sessions"] * year.sources[:, number]
    year.volumes["sessions"][at:] -= 0.95 * lost[at:]
    year.sources[at:, number] *= 0.05
    year.sources[at:] /= year.sources[at:].sum(axis=1)[:, None]
    return Planted(year.name, "source", at, _after(lost, at, 25), SOURCES[number])


def _outreach(year: Year, at: int) -> Planted:
    usual = year.volumes["outreach"].copy()
    year.volumes["outreach"][at:] *= year.dice.uniform(0, 0.1)
    return Planted(year.name, "outreach", at, _after(usual, at, 20))


def _rate(
    kind: str, measure: str, volume: str, cases: float, share: tuple[float, float]
) -> Callable[[Year, int], Planted]:
    """Return how a share changes to one between these, with the scatter that it had."""

    def plant(year: Year, at: int) -> Planted:
        usual, now = year.shares[measure], year.dice.uniform(*share)
        odds = usual / (1 - usual) * now / (1 - now) / np.median(usual / (1 - usual))
        year.shares[measure][at:] = (odds / (1 + odds))[at:]
        return Planted(year.name, kind, at, _after(year.volumes[volume], at, cases) + MATURES.get(measure, 0))

    return plant


def _after_hours(year: Year, at: int) -> Planted:
    moved = year.dice.uniform(0.2, 0.4)
    both = year.volumes["inside"] + year.volumes["outside"]
    year.volumes["outside"][at:] += moved * year.volumes["inside"][at:]
    year.volumes["inside"][at:] *= 1 - moved
    return Planted(year.name, "after_hours", at, _after(both, at, 120))


KINDS: Mapping[str, tuple[str, str, Callable[[Year, int], Planted]]] = {
    "line": ("A line down for a morning", "that day", _line),
    "weekday": ("One weekday badly answered", "its third such day", _weekday),
    "fall": ("A slow fall over six weeks", "the six weeks", _fall),
    "step": ("A form step that loses people", "60 sessions", _step),
    "source": ("A source that dries up", "25 sessions that do not come", _source),
    "outreach": ("Outreach that stops", "20 clients who are not contacted", _outreach),
    "opted_out": ("Opt-outs that jump", "80 contacted clients, and the 4 days in which they may answer",
                  _rate("opted_out", "opted_out", "outreach", 80, (0.18, 0.35))),
    "no_show": ("No-shows", "120 visits",
                _rate("no_show", "no_show", "visits", 120, (0.18, 0.32))),
    "tasks": ("Tasks that nobody closes", "40 tasks, and the 3 days that each has",
              _rate("tasks", "task_done", "tasks", 40, (0.25, 0.5))),
    "handed_over": ("A voice agent that hands over", "100 calls",
                    _rate("handed_over", "handed_over", "inside", 100, (0.6, 0.85))),
    "after_hours": ("Demand that moves after hours", "120 calls", _after_hours),
    "emergency": ("Emergencies without help", "20 emergency calls",
                  _rate("emergency", "emergency_lost", "emergencies", 20, (0.45, 0.8))),
}  # fmt: skip
"""The kinds: their words, after what one can be known, and how it is planted."""

MEASURES_OF = {
    "line": {"answered", "calls"}, "weekday": {"answered"}, "fall": {"answered"}, "step": {"step_left"},
    "source": {"source"}, "outreach": {"outreach"}, "opted_out": {"opted_out"}, "no_show": {"no_show"},
    "tasks": {"task_done"}, "handed_over": {"handed_over"}, "after_hours": {"after_hours"},
    "emergency": {"emergency_lost"},
}  # fmt: skip


@dataclass(frozen=True)
class Result:
    """Whether a planted fact was in the lines: the mornings after it could be known, negative if before."""

    planted: Planted
    delay: int | None
    others: int


def plant(kind: str, seed: int) -> tuple[list[Days], Planted]:
    """Return the years of one to eight practices, and the fact that one of them has."""
    dice = np.random.default_rng([seed, *kind.encode()])
    years = [Year(dice, f"p{number}") for number in range(int(dice.integers(1, 9)))]
    planted = KINDS[kind][2](years[int(dice.integers(len(years)))], int(dice.integers(190, 300)))
    return _days(years), planted


def quiet(seed: int, number: int = 4) -> list[Days]:
    """Return the years of practices to which nothing happens."""
    dice = np.random.default_rng([seed, 1])
    return _days([Year(dice, f"p{place}") for place in range(number)])


def _days(years: list[Year]) -> list[Days]:
    counts = pl.concat([year.counts() for year in years])
    last = FIRST + timedelta(days=LENGTH - 1)
    return list(days_of(counts, {year.name: last for year in years}, {}, {}))


def as_known(days: Days, today: int) -> Days:
    """Return the days as the marts have them in the morning of a day."""
    end, place = today + 1, np.arange(today + 1)
    over = (place < today)[:, None]
    hours = {name: (some[:end] * over, whole[:end] * over) for name, (some, whole) in days.hours.items()}
    shares = dict(days.shares)
    for (measure, part), (some, whole) in days.shares.items():
        old = place < today - MATURES.get(measure, 0)
        shares[measure, part] = some[:end] * old, whole[:end] * old
    return Days(days.practice_id, days.first, shares, hours, days.weekday[:end], days.is_closed[:end])


def lines(days: list[Days], today: int, before: list[Headline]) -> list[Headline]:
    """Return the headlines of a morning, after those of the morning before."""
    found: list[Fact] = []
    for one in days:
        stated = [line.fact for line in before if line.fact.practice_id == one.practice_id]
        found += facts_of(as_known(one, today), stated)
    return kept(before, found, {one.practice_id: one.day(today) for one in days})


def is_it(planted: Planted, fact: Fact, days: Days) -> bool:
    """Return whether a fact is the planted one."""
    if fact.practice_id != planted.practice_id or fact.measure not in MEASURES_OF[planted.kind]:
        return False
    begins, since = days.day(planted.begins), fact.since
    if planted.kind == "line":
        return fact.shape == "hours" and since == begins
    if planted.kind == "weekday":
        return fact.shape == "weekday" and str(fact.weekday) == planted.part
    near = timedelta(days=10 if planted.kind != "fall" else 45)
    return fact.shape == "shift" and abs(since - begins) <= near and fact.part in (None, planted.part)


def result(kind: str, seed: int) -> Result:
    """Plant a fact, look at each morning from its first day on, and say when it is in the lines."""
    days, planted = plant(kind, seed)
    of = next(one for one in days if one.practice_id == planted.practice_id)
    before: list[Headline] = []
    last = planted.known + 2
    for today in range(max(planted.begins - 1, last - 16), last + 1):
        before = lines(days, today, before)
        shown = [line for line in before if line.rank and line.rank <= MOST]
        if any(is_it(planted, line.fact, of) for line in shown):
            return Result(planted, today - planted.known, len(shown) - 1)
    return Result(planted, None, sum(1 for line in before if line.rank))


def false_lines(seed: int, first: int = 200, mornings: int = 91) -> list[int]:
    """Return how many lines each of some quiet practices has in a quarter, looked at every morning."""
    days = quiet(seed)
    before: list[Headline] = []
    for today in range(first, first + mornings):
        before = lines(days, today, before)
    return [sum(1 for line in before if line.fact.practice_id == one.practice_id) for one in days]
