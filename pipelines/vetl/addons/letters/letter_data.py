"""Read the content of letters from the published file, and from the ledgers beside it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from vetl.addons.letters import letter
from vetl.core.significance import Outlier
from vetl.figures.periods import series
from vetl.publishing.statements import Read
from vetl.store.connection import among

_MOST = 3
"""Outliers of a letter: more than these nobody reads."""

_DONE = """
select count(*), count(*) filter (where state in ('unknown', 'asking')),
    count(*) filter (where state not in ('unknown', 'asking', 'refused') and sent_at > as_of - interval 7 days)
from marts.acts join marts.practices using (practice_id) where not holdout and state <> 'planned'
"""

_PROOF = """
select practices.name, count(*) filter (where certified_through is null), sum(quarantined_rows)
from meta.proof join marts.practices using (practice_id)
where endpoint not in ('clients', 'patients') group by practice_id, practices.name order by practices.name
"""

_AHEAD = (
    """select count(*) from marts.appointments join marts.practices using (practice_id)
       where attendance <> 'canceled' and booking_date_local::date between today and today + 6""",
    """select sum(calls_expected) from marts.calls_forecast join marts.practices using (practice_id)
       where day between today + 1 and today + 7 and made_on >= today - 1""",
)

_WAITING = """
select practice_id, count(*) from marts.call_back_list
where reason is null or reason not in ('declined', 'resolved') group by practice_id
"""
"""Whoever declined, or whose call settled it, waits for no call: Call back leaves them out, too."""


@dataclass(frozen=True, slots=True)
class LetterData:
    """The published file, open: names and groups of practices, and the counts of each figure.

    `calls` are the inbound calls by practice and closed week.
    """

    read: Read
    names: Mapping[str, str]
    groups: Mapping[str, str | None]
    weeks: Mapping[str, letter.Weeks]
    calls: Mapping[str, letter.CallWeeks]


def read_letter_data(read: Read, file: Path) -> LetterData:
    """Read the counts of all practices by closed week."""
    rows = read("select practice_id, name, group_name from marts.practices order by name, practice_id").rows
    return LetterData(
        read,
        {key: name for key, name, _ in rows},
        {key: group for key, _, group in rows},
        {measure.key: _weeks(read, file, measure) for measure in letter.SHARES},
        _calls(read, file),
    )


def _calls(read: Read, file: Path) -> dict[str, letter.CallWeeks]:
    practices = series(read, file, "calls", "week", ("direction=inbound",)).practices
    return {key: {one.start: int(one.value or 0) for one in values} for key, values in practices.items()}


def _weeks(read: Read, file: Path, measure: letter.ShareOf) -> letter.Weeks:
    some = series(read, file, measure.some, "week", measure.where).practices
    whole = series(read, file, measure.whole, "week", measure.where).practices
    found: dict[str, dict[date, letter.Counts]] = {}
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
    out: Callable[[date], Sequence[str]] = lambda _week: (),
) -> letter.Letter | None:
    """Return the letter about these practices; `None` if no week of them is closed yet.

    `out` returns the sentences about thresholds, for the Monday of the letter's week.
    """
    figures = tuple(letter.figure_of(measure, data.weeks[measure.key], practices) for measure in letter.SHARES)
    week = max((figure.week for figure in figures if figure.week), default=None)
    if week is None:
        return None
    volume = letter.volume_of(data.calls, practices, letter.newest_week(data.calls, practices))
    return letter.Letter(
        reader=reader,
        week=week,
        practices=tuple(data.names[key] for key in practices),
        ids=tuple(practices),
        headlines=_headlines(data, practices),
        volume=volume,
        figures=figures,
        rows=_rows(data, practices, volume, figures),
        outliers=tuple(_outlier(data, *found) for found in letter.outside(data.weeks, practices, _MOST)),
        out=tuple(out(week)),
        ahead=_ahead(data, practices),
        waiting=_waiting(data, practices),
        done=_done(data, practices),
        uncertain=tuple(_uncertain(data, practices, volume, figures)),
        link=link,
    )


def _headlines(data: LetterData, practices: Sequence[str]) -> tuple[str, ...]:
    """Return what is unusual now, the costliest first."""
    news = f"select words from marts.headlines where rank is not null and {among('practice_id', practices)}"
    return tuple(f"{words}." for (words,) in data.read(f"{news} order by rank limit 5").rows)


def _rows(
    data: LetterData, practices: Sequence[str], volume: letter.Volume, figures: Sequence[letter.LetterFigure]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the practices with their calls, and the share of each figure in its week."""
    shares = {
        key: tuple(
            letter.percent(
                letter.share(data.weeks[measure.key].get(key, {}).get(figure.week, (0, 0)))
                if figure.week
                else None
            )
            for measure, figure in zip(letter.SHARES, figures, strict=True)
        )
        for key in practices
    }
    return tuple((data.names[key], (_calls_of(data, key, volume), *shares[key])) for key in practices)


def _calls_of(data: LetterData, key: str, volume: letter.Volume) -> str:
    calls = data.calls.get(key, {}).get(volume.week) if volume.week else None
    return "\u2013" if calls is None else f"{calls:,}"


def _outlier(data: LetterData, measure: letter.ShareOf, one: Outlier) -> str:
    found, others = letter.percent(letter.share(one.counts)), letter.percent(letter.share(one.others))
    return f"{data.names[one.name]}, {measure.label.lower()}: {found}, the others {others}."


def _ahead(data: LetterData, practices: Sequence[str]) -> tuple[str, ...]:
    """Return sentences about the visits and the calls of the next seven days, by each practice's own clock."""
    ours = among("practice_id", practices)
    ((visits,),), ((calls,),) = (data.read(f"{of} and {ours}").rows for of in _AHEAD)
    lines = (f"{visits:,} visits are booked for the next seven days.",)
    return lines if calls is None else (*lines, f"About {calls:,.0f} inbound calls are to be expected in them.")


def _waiting(data: LetterData, practices: Sequence[str]) -> tuple[tuple[str, int], ...]:
    people = dict(data.read(_WAITING).rows)
    return tuple((data.names[key], people[key]) for key in practices if people.get(key))


def _done(data: LetterData, practices: Sequence[str]) -> tuple[str, ...]:
    """Return sentences about the tasks and messages of `vetl act`; none if it never acted."""
    [(every, unknown, made)] = data.read(f"{_DONE} and {among('practice_id', practices)}").rows
    lines = (f"{made:,} staff tasks or messages were made in the last seven days, {every:,} in all.",)
    doubt = f"Of {unknown:,} requests it is not known whether they made one."
    return (*lines, doubt)[: 1 + bool(unknown)] if every else ()


def _uncertain(
    data: LetterData, practices: Sequence[str], volume: letter.Volume, figures: Sequence[letter.LetterFigure]
) -> list[str]:
    closed: dict[str, letter.ClosedWeeks] = {letter.CALLS: (volume.week, data.calls)}
    for measure, figure in zip(letter.SHARES, figures, strict=True):
        closed[figure.label] = figure.week, data.weeks[measure.key]
    names = {key: data.names[key] for key in practices}
    return [*letter.uncertain(names, closed, figures), *_unproven(data, practices)]


def _unproven(data: LetterData, practices: Sequence[str]) -> list[str]:
    lines: list[str] = []
    names = {data.names[key] for key in practices}
    for name, unproven, quarantined in data.read(_PROOF).rows:
        if name in names and unproven:
            lines.append(f"{name}: {unproven} of its lists are not proven whole.")
        if name in names and quarantined:
            lines.append(f"{name}: {quarantined} rows could not be read and are not counted.")
    return lines
