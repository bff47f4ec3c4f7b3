"""Find the headlines in the marts that were just built, and keep them in the private file."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from datetime import date, timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any

from vetl.headlines.finding import Headline, facts_of, kept
from vetl.headlines.measures import days_of, made_of, words_of
from vetl.headlines.surprise import Fact
from vetl.store.connection import Connection
from vetl.store.control import facts as store
from vetl.store.notes import write_note

NOTE = "headlines"
MOST = 5
"""The most headlines that are shown; all of them stand in `marts.headlines`."""

_NEWS_HOURS = 8
"""The last days are looked at by hour; all, if nothing was ever looked at."""


HolidaysOf = Callable[[str, date, date], list[date]]
"""Returns the holidays of a practice between two days."""


def find_headlines(connection: Connection, warehouse: Path, holidays_of: HolidaysOf, fewest_people: int) -> None:
    """Find what is unusual in the marts; keep it in `control.headlines`, `marts.headlines` and a note."""
    if not store.has_marts(connection):
        return
    before = [_headline(row) for row in store.read_headlines(connection)]
    counted = store.count_marts(connection, fewest_people)
    off = {
        practice: holidays_of(practice, today - timedelta(days=store.DAYS), today)
        for practice, today in counted.today.items()
    }
    found: list[Fact] = []
    for days in days_of(counted.counts, counted.today, off, counted.certified):
        stated = [one.fact for one in before if one.fact.practice_id == days.practice_id]
        hours = _NEWS_HOURS if before else len(days.weekday)
        found += facts_of(days, stated, hours_of_days=hours)
    rows = [_row(one, counted.names) for one in kept(before, found, counted.today)]
    store.keep_headlines(connection, rows)
    write_note(warehouse, NOTE, [_noted(row) for row in news(rows)])


def news(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the headlines that are shown, the first one first."""
    ranked = sorted((row for row in rows if row["rank"] is not None), key=itemgetter("rank"))
    return ranked[:MOST]


def _noted(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the mart, for `vetl status`, which opens no DuckDB file."""
    return {name: str(row[name]) if isinstance(row[name], date) else row[name] for name in store.MART_COLUMNS}


def _headline(row: Mapping[str, Any]) -> Headline:
    fact = Fact(
        row["practice_id"], row["shape"], row["counted"], row["part"], row["since"], row["until"], row["value"],
        row["usual"], row["cases"], row["of_cases"], float(row["people"]), row["distance"],
        hours=None if row["hour"] is None else (row["hour"], row["until_hour"]), weekday=row["weekday"],
    )  # fmt: skip
    return Headline(fact, row["first_seen"], row["rank"])


def _row(one: Headline, names: Mapping[str, str]) -> dict[str, Any]:
    fact = asdict(one.fact)
    hours = one.fact.hours or (None, None)
    return {
        **fact,
        "counted": one.fact.measure,
        "cases": one.fact.some,
        "of_cases": one.fact.whole,
        "measure": one.fact.key,
        "people": round(one.fact.people),
        "first_seen": one.first_seen,
        "rank": one.rank,
        "direction": "lower" if one.fact.value < one.fact.usual else "higher",
        "sureness": one.fact.sureness,
        "made_of": made_of(one.fact),
        "words": words_of(one.fact, names.get(one.fact.practice_id, one.fact.practice_id)),
        "hour": hours[0],
        "until_hour": hours[1],
    }
