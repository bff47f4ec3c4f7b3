"""Headlines that are kept: a fact once stated stays, so that those of March can be asked for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from vetl.headlines.fact import Fact

SHOWN = 5
"""So many lines are shown; more are not read."""

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


def present(headlines: Iterable[Headline], practices: Sequence[str] = ()) -> list[Headline]:
    """Return the lines to show, of these practices or of all."""
    ranked = [one for one in headlines if one.rank and (not practices or one.fact.practice_id in practices)]
    return sorted(ranked, key=lambda one: one.rank or 0)[:SHOWN]


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
