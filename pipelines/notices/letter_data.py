"""Read the content of letters from the published file, and from the ledgers beside it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from pipelines.loading.connection import literal
from pipelines.loading.published.figures.periods import series
from pipelines.loading.published.query import Rows, query
from pipelines.notices.letter import (
    FEW,
    SHARES,
    Counts,
    Found,
    Letter,
    LetterFigure,
    Line,
    ShareOf,
    Weeks,
    changed,
    day_words,
    figure_of,
    outside,
    percent,
    share,
)

_MOST = 3
"""Changes and outliers of a letter: more than these nobody reads."""

_WISHES = (
    "select coalesce(outcome, state) as cause from marts.phone_calls"
    " where {chosen} and direction = 'inbound' and is_missed_new_booking"
)
_CAUSES = {
    "answered": (
        "select state as cause from marts.phone_calls where {chosen} and direction = 'inbound' and not is_answered"
    ),
    "callers": _WISHES,
    "won_back": _WISHES,
    "online": "select stage as cause from marts.booking_sessions where {chosen} and status <> 'completed'",
    "outreach": (
        "select coalesce(outcome, status) as cause from marts.outreach_requests"
        " where {chosen} and is_contacted and outcome is distinct from 'booked'"
    ),
}
"""The cases that did not go well, by figure, each with its end."""

_PROOF = """
select practices.name, count(*) filter (where certified_through is null), sum(quarantined_rows)
from marts.proof join marts.practices using (practice_id)
where endpoint not in ('clients', 'patients') group by practice_id, practices.name order by practices.name
"""


@dataclass(frozen=True, slots=True)
class LetterData:
    """The published file of one moment: names and groups of practices, and the counts of each figure."""

    file: Path
    names: Mapping[str, str]
    groups: Mapping[str, str | None]
    weeks: Mapping[str, Weeks]


def read_letter_data(file: Path) -> LetterData:
    """Read the counts of all practices by closed week.

    Raises:
        WarehouseBusy: another process holds the file.
        WarehouseError: the file is missing or is no warehouse, or an older vetl published it.
    """
    rows = query(file, "select practice_id, name, group_name from marts.practices order by name, practice_id").rows
    return LetterData(
        file,
        {key: name for key, name, _ in rows},
        {key: group for key, _, group in rows},
        {measure.key: _weeks(file, measure) for measure in SHARES},
    )


def _weeks(file: Path, measure: ShareOf) -> Weeks:
    some = series(file, measure.some, "week", measure.where).practices
    whole = series(file, measure.whole, "week", measure.where).practices
    found: dict[str, dict[date, Counts]] = {}
    for practice, values in whole.items():
        parts = {value.start: int(value.value or 0) for value in some.get(practice, ())}
        found[practice] = {
            value.start: (parts[value.start], int(value.value or 0)) for value in values if value.start in parts
        }
    return found


def compose(
    data: LetterData,
    reader: str,
    practices: Sequence[str],
    *,
    link: str | None,
    done: Sequence[str] = (),
    out: Callable[[date], Sequence[str]] = lambda _week: (),
) -> Letter | None:
    """Return the letter about these practices; `None` if no week of them is closed yet.

    `out` returns the sentences about thresholds, for the Monday of the letter's week.
    """
    figures = tuple(figure_of(measure, data.weeks[measure.key], practices) for measure in SHARES)
    week = max((figure.week for figure in figures if figure.week), default=None)
    if week is None:
        return None
    moved = [found for measure in SHARES for found in changed(measure, data.weeks[measure.key], practices)]
    outliers = [found for measure in SHARES for found in outside(measure, data.weeks[measure.key], practices)]
    return Letter(
        reader=reader,
        week=week,
        practices=tuple(data.names[key] for key in practices),
        ids=tuple(practices),
        figures=figures,
        rows=_rows(data, practices, figures),
        changes=tuple(_change(data, found) for found in _heaviest(moved)),
        outliers=tuple(_outlier(data, found, practices) for found in _heaviest(outliers)),
        out=tuple(out(week)),
        waiting=_waiting(data, practices),
        done=tuple(done),
        uncertain=tuple(_uncertain(data, practices, figures, week)),
        link=link,
    )


def _heaviest(found: Sequence[Found]) -> list[Found]:
    return sorted(found, key=lambda one: -one.weight)[:_MOST]


def _rows(
    data: LetterData, practices: Sequence[str], figures: Sequence[LetterFigure]
) -> tuple[tuple[str, tuple[float | None, ...]], ...]:
    """Return the practices with the share of each figure in its week."""
    shares = {
        key: tuple(
            share(data.weeks[measure.key].get(key, {}).get(figure.week, (0, 0))) if figure.week else None
            for measure, figure in zip(SHARES, figures, strict=True)
        )
        for key in practices
    }
    return tuple((data.names[key], shares[key]) for key in practices)


def _change(data: LetterData, found: Found) -> Line:
    earlier = found.week - timedelta(days=7)
    verb = "rose" if found.difference > 0 else "fell"
    here = _ends(data, found, [found.practice_id], found.week, found.now)
    before = _ends(data, found, [found.practice_id], earlier, found.other)
    return Line(
        f"{found.measure.label} at {data.names[found.practice_id]}",
        f"{verb} from {percent(share(found.other))} to {percent(share(found.now))} ({found.now[0]:,} of"
        f" {found.now[1]:,}) in the week of {day_words(found.week)}."
        f"{_cause(here, before, 'before', is_worse=found.difference < 0)}",
    )


def _outlier(data: LetterData, found: Found, practices: Sequence[str]) -> Line:
    others = [key for key in found.others if key in practices]
    here = _ends(data, found, [found.practice_id], found.week, found.now)
    there = _ends(data, found, others, found.week, found.other)
    return Line(
        f"{data.names[found.practice_id]}, {found.measure.label.lower()}",
        f"{percent(share(found.now))}, the others {percent(share(found.other))}."
        f"{_cause(here, there, 'the others', is_worse=found.difference < 0)}",
    )


def _ends(
    data: LetterData, found: Found, practices: Sequence[str], week: date, counts: Counts
) -> dict[str, float]:
    """Return the cases that did not go well by their end, as shares of all cases."""
    named = ", ".join(literal(key) for key in practices)
    chosen = f"practice_id in ({named}) and day between date '{week}' and date '{week}' + 6"
    ends = _CAUSES[found.measure.key].format(chosen=chosen)
    rows: Rows = query(data.file, f"select cause, count(*) from ({ends}) group by cause").rows  # noqa: S608 - own text
    return {str(cause or "not said").replace("_", " "): number / counts[1] for cause, number in rows}


def _cause(here: Mapping[str, float], there: Mapping[str, float], than: str, *, is_worse: bool) -> str:
    """Return the sentence about the end whose share differs most, in the direction of the difference."""
    sign = 1 if is_worse else -1
    differences = {end: sign * (here.get(end, 0.0) - there.get(end, 0.0)) for end in here.keys() | there.keys()}
    end = max(sorted(differences), key=differences.__getitem__, default=None)
    if end is None or differences[end] <= 0:
        return ""
    return (
        f" Mostly because of \u201c{end}\u201d: {percent(here.get(end, 0.0))} of the cases,"
        f" {than} {percent(there.get(end, 0.0))}."
    )


def _waiting(data: LetterData, practices: Sequence[str]) -> tuple[tuple[str, int], ...]:
    rows = query(data.file, "select practice_id, count(*) from marts.leak_list group by practice_id").rows
    people = dict(rows)
    return tuple((data.names[key], people[key]) for key in practices if people.get(key))


def _uncertain(
    data: LetterData, practices: Sequence[str], figures: Sequence[LetterFigure], week: date
) -> list[str]:
    """Return sentences about figures that a reader must not take for certain."""
    lines: list[str] = []
    earlier: dict[date, list[str]] = {}
    for measure, figure in zip(SHARES, figures, strict=True):
        if figure.week is None:
            lines.append(f"{figure.label}: no week is closed yet.")
            continue
        if figure.week < week:
            earlier.setdefault(figure.week, []).append(f"\u201c{figure.label}\u201d")
        behind = [key for key in practices if figure.week not in data.weeks[measure.key].get(key, {})]
        if behind:
            lines.append(
                f"{figure.label} leaves out {_some([data.names[key] for key in behind])}: not read whole."
            )
        if 0 < figure.counts[1] < FEW:
            lines.append(f"{figure.label} has only {figure.counts[1]} cases, which says little.")
    for start, labels in earlier.items():
        lines.append(f"Of the week of {day_words(start)}, as later weeks may still change: {', '.join(labels)}.")
    names = {data.names[key] for key in practices}
    for name, unproven, quarantined in query(data.file, _PROOF).rows:
        if name in names and unproven:
            lines.append(f"{name}: {unproven} of its lists are not proven whole.")
        if name in names and quarantined:
            lines.append(f"{name}: {quarantined} rows could not be read and are not counted.")
    return lines


def _some(names: Sequence[str]) -> str:
    first = Counter(names)
    more = len(first) - _MOST
    return ", ".join(list(first)[:_MOST]) + (f" and {more} more" if more > 0 else "")
