"""Find the facts in the days of a practice, and leave out those that another one explains.

A fact must be far from chance and large enough to matter (`Fact`, `Measure.least`). Everything is looked at every
morning, and so often chance alone comes far. A fact once stated stays, so that those of March can be asked for.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

import numpy as np

from vetl.headlines.measures import BY_WEEKDAY, MEASURES, Days
from vetl.headlines.shapes import hours_of, shift_of, weekdays_of
from vetl.headlines.surprise import Fact

_MOST_OF = 0.8


def facts_of(days: Days, stated: Collection[Fact] = (), *, hours_of_days: int = 8) -> list[Fact]:
    """Return the facts of a practice that are news this morning, the costliest first.

    Args:
        days: The counts through today, whose hours count as far as they have come.
        stated: The facts that go on as far as is known; they need less than a new fact.
        hours_of_days: So many days are looked at by hour.
    """
    bad_days = {fact.since for fact in stated if fact.shape == "hours"}
    ordinary = replace(days, is_closed=_also_closed(days, bad_days))
    recent = range(max(days.today - hours_of_days + 1, 0), days.today + 1)
    hours = [fact for day in recent for fact in hours_of(days, ordinary.is_closed, day)]
    bad_days |= {fact.since for fact in hours}
    clean = replace(days, is_closed=_also_closed(days, bad_days))
    open_ones = {(fact.shape, fact.measure, fact.part): fact for fact in stated if fact.until is None}
    shifts = [fact for key in days.shares for fact in shift_of(clean, key, open_ones.get(("shift", *key)))]
    weekdays = [
        fact
        for measure in BY_WEEKDAY
        for fact in weekdays_of(days, measure, open_ones.get(("weekday", measure, None)))
    ]
    return sorted(_explained([*weekdays, *shifts, *hours]), key=lambda fact: -fact.people)


def _also_closed(days: Days, others: Collection[date]) -> np.ndarray:
    closed = days.is_closed.copy()
    for day in others:
        if day >= days.first:
            closed[(day - days.first).days] = True
    return closed


def _explained(facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts without those that another one explains."""
    weekdays = {(fact.measure, fact.weekday) for fact in facts if fact.shape == "weekday"}
    shifts: Mapping[tuple[str, str | None], Fact] = {
        (fact.measure, fact.part): fact for fact in facts if fact.shape == "shift"
    }
    best: dict[str, Fact] = {}
    for fact in facts:
        if fact.shape == "shift" and fact.part is not None:
            known = best.get(fact.measure)
            best[fact.measure] = fact if known is None or fact.people > known.people else known
    left: list[Fact] = []
    for fact in facts:
        if fact.shape == "hours":
            of_weekday = (fact.measure, fact.since.weekday()) in weekdays
            shift = shifts.get((fact.measure, None))
            if of_weekday or (shift and shift.since <= fact.since and fact.value > shift.value / 2):
                continue
        elif fact.shape == "shift":
            if fact.part is not None and best[fact.measure] is not fact:
                continue
            if _is_of_part(fact, best) or _is_of_whole(fact, shifts):
                continue
        left.append(fact)
    return left


def _is_of_part(fact: Fact, parts: Mapping[str, Fact]) -> bool:
    """Return whether one part of a measure accounts for its change."""
    return any(
        MEASURES[name].of_part_of == fact.measure and part.people >= _MOST_OF * fact.people
        for name, part in parts.items()
    )


def _is_of_whole(fact: Fact, shifts: Mapping[tuple[str, str | None], Fact]) -> bool:
    """Return whether the whole has changed, of which this part is a small one; of a count, not most of it."""
    measure = MEASURES[fact.measure]
    of = shifts.get((measure.of_part_of, None)) if measure.of_part_of else None
    return of is not None and fact.people < of.people * (0.5 if measure.is_share else _MOST_OF)


NEWS = timedelta(days=8)
"""A fact that is over for longer is no news."""

_AGAIN = timedelta(days=14)
"""A fact that comes back within so many days is the same one."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A fact, the day on which it was stated first, and its place among the present ones: `None` if it is over."""

    fact: Fact
    first_seen: date
    rank: int | None


def kept(stated: Iterable[Headline], found: Sequence[Fact], today: Mapping[str, date]) -> list[Headline]:
    """Return all headlines, with the facts that were found on the practices' `today`.

    A fact that goes on keeps its first day. One that is found no more is over since the day before. Headlines of
    practices without `today` stay as they are.
    """
    before = {_name(one.fact): one for one in stated}
    after = {name: replace(one, rank=None) for name, one in before.items()}
    old = [fact for fact in found if fact.until and fact.until <= today[fact.practice_id] - NEWS]
    news = sorted((fact for fact in found if fact not in old), key=lambda fact: -fact.people)
    for rank, fact in [*((None, fact) for fact in old), *enumerate(news, 1)]:
        known = _known(before.values(), fact)
        since = known.fact.since if known else fact.since
        headline = Headline(
            replace(fact, since=since), known.first_seen if known else today[fact.practice_id], rank
        )
        after[_name(headline.fact)] = headline
    for name, one in after.items():
        if one.rank is None and one.fact.until is None and one.fact.practice_id in today:
            over = max(today[one.fact.practice_id] - timedelta(days=1), one.fact.since)
            after[name] = replace(one, fact=replace(one.fact, until=over))
    return sorted(after.values(), key=lambda one: (one.rank or len(after) + 1, _name(one.fact)))


def _name(fact: Fact) -> tuple[str, str, date]:
    return fact.practice_id, fact.key, fact.since


def _known(stated: Iterable[Headline], fact: Fact) -> Headline | None:
    """Return the headline of the same fact: with the same first day, or open, or over for a short while."""
    same = [one for one in stated if _name(one.fact)[:2] == _name(fact)[:2]]
    exact = next((one for one in same if one.fact.since == fact.since), None)
    if exact or fact.shape == "hours":
        return exact
    alike = [
        one
        for one in same
        if (one.fact.part, one.fact.weekday) == (fact.part, fact.weekday)
        and (one.fact.until is None or one.fact.until >= fact.since - _AGAIN)
    ]
    return max(alike, key=lambda one: one.fact.since, default=None)
