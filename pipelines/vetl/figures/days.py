"""Say which days an answer is about: none at all, or only a part of a week or of a month."""

from collections.abc import Collection, Sequence
from typing import Any

from vetl.core.names import some_of
from vetl.publishing.query import Read

TIME = {
    "day": "day",
    "week": "cast(date_trunc('week', day) as date)",
    "month": "cast(date_trunc('month', day) as date)",
    "weekday": "cast(isodow(day) as integer)",
}
"""The dimensions of time, as SQL over rows with a day."""

_WHOLE = {"week": "7", "month": "cast(day(last_day(start)) as integer)"}
"""The days of a whole period that begins at `start`, as SQL."""


def no_days(read: Read, chosen: str, of_practices: str) -> list[str]:
    """Return one line if the SQL `chosen` chooses no day of any practice that `of_practices` chooses."""
    days = "from meta.practice_days as counted where"
    ((found,),) = read(f"select exists (select 1 {days} {chosen})").rows
    if found:
        return []
    ((first, last),) = read(f"select min(day), max(day) {days} {of_practices}").rows
    known = f"the days are {first} to {last}" if first else "no practice has days yet"
    return [f"there are no data of these days, so there is no number; {known}"]


def part_periods(read: Read, by: Sequence[str], chosen: str, rows: Collection[tuple[Any, ...]]) -> list[str]:
    """Return a line about the weeks or months of an answer of which a practice has some days only."""
    lines: list[str] = []
    for name in (one for one in by if one in _WHOLE):
        starts = {row[by.index(name)] for row in rows}
        found = read(
            "select start, min(days), whole from (select start, days,"
            f" {_WHOLE[name]} as whole from (select {TIME[name]} as start, count(*) as days"
            f" from meta.practice_days as counted where {chosen} group by practice_id, start))"
            " where days < whole group by start, whole order by start"
        ).rows
        parts = [f"{start} ({days} of {whole} days)" for start, days, whole in found if start in starts]
        if parts:
            lines.append(f"not every {name} is whole: {some_of(parts)}")
    return lines
