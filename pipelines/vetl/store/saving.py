"""Store the saves of several lists in one transaction, in as few statements as their order allows.

Parse the values of saves before their transaction begins.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import groupby, zip_longest
from typing import Any

from vetl.core.endpoint import Endpoint
from vetl.core.pages import Changes
from vetl.core.steps import AttachDetails, Learnt, MergeRows, MissingRecords, MoveCursor, ReplaceDays, Save
from vetl.store.commit import Commit, Tally, added
from vetl.store.connection import Connection
from vetl.store.control.state import keep_certificates, keep_cursors, keep_learnt
from vetl.store.frames import Typed
from vetl.store.instants import days_between
from vetl.store.merge import mark_missing, merge_rows, read_rows
from vetl.store.phone_calls.days import attach_details, replace_days
from vetl.store.phone_calls.json_calls import read_values
from vetl.store.tables import RawTable

ROWS_AT_ONCE = 50_000
"""Rows of several practices that go into one frame; a practice with more rows goes alone."""

Work = tuple[str, Endpoint, Sequence[Save]]
"""The saves of one list: the practice's id, the list, the saves."""

Begin = Callable[[Endpoint, Mapping[str, datetime]], Commit]
"""Create the context of a commit for an endpoint, from the source's clock by practice."""


def store(works: Sequence[Work], begin: Begin) -> list[Changes]:
    """Store the data of these lists; practices share the statements of an endpoint."""
    changes = [Changes()] * len(works)
    for places in _batches(works):
        saves = {works[place][0]: works[place][2] for place in places}
        commit = begin(works[places[0]][1], {practice_id: source_clock(own) for practice_id, own in saves.items()})
        tallies: list[Tally] = []
        for batch in _shared(saves):
            tallies += [
                merge_rows(commit, [(of, save) for of, save in batch if isinstance(save, MergeRows)]),
                mark_missing(commit, [(of, save) for of, save in batch if isinstance(save, MissingRecords)]),
                replace_days(commit, [(of, save) for of, save in batch if isinstance(save, ReplaceDays)]),
                attach_details(commit, [(of, save) for of, save in batch if isinstance(save, AttachDetails)]),
            ]
        stored = added(tallies)
        for place in places:
            changes[place] = stored.get(works[place][0], Changes())
    return changes


def keep(connection: Connection, run_id: str, works: Sequence[Work]) -> None:
    """Store certificates, cursors and learnt capabilities."""
    saved = [((practice_id, endpoint.name), save) for practice_id, endpoint, saves in works for save in saves]
    keep_certificates(connection, run_id, [(of, save.certificate) for of, save in saved if save.certificate])
    keep_cursors(connection, run_id, [(of, save) for of, save in saved if isinstance(save, MoveCursor)])
    keep_learnt(connection, run_id, [(of, save) for of, save in saved if isinstance(save, Learnt)])


def source_clock(work: Sequence[Save]) -> datetime:
    """Return the latest source time in these saves; this machine's time if they hold none."""
    read = [save.read_at for save in work if isinstance(save, MergeRows | ReplaceDays | MissingRecords)]
    proved = [save.certificate.finished for save in work if save.certificate]
    return max([*read, *proved], default=datetime.now(UTC))


def _batches(works: Sequence[Work]) -> Iterator[list[int]]:
    """Yield batches of indexes into `works`: one endpoint, each practice once, in their order."""
    waiting: dict[str, list[int]] = {}
    rows: Counter[str] = Counter()
    for place, (practice_id, endpoint, saves) in enumerate(works):
        batch = waiting.setdefault(endpoint.name, [])
        more = sum(map(_rows_to_store, saves))
        repeated = any(works[other][0] == practice_id for other in batch)
        if batch and (repeated or rows[endpoint.name] + more > ROWS_AT_ONCE):
            yield batch
            batch = waiting[endpoint.name] = []
            rows[endpoint.name] = 0
        batch.append(place)
        rows[endpoint.name] += more
    yield from waiting.values()


def _rows_to_store(save: Save) -> int:
    match save:
        case MergeRows() | AttachDetails():
            return len(save.rows)
        case ReplaceDays():
            return len(save.rows) + sum(page.frame.height for page in save.frames)
        case _:
            return 0


def _shared(saves: Mapping[str, Sequence[Save]]) -> Iterator[list[tuple[str, Save]]]:
    """Yield the saves with their practices, round by round; a round holds one round of every practice."""
    rounds = [
        [[(practice_id, save) for save in one] for one in (*_neighbours(own), *_rounds(own))]
        for practice_id, own in saves.items()
    ]
    for side_by_side in zip_longest(*rounds, fillvalue=()):
        yield [saved for one in side_by_side for saved in one]


def _neighbours(saves: Sequence[Save]) -> Iterator[list[MergeRows | MissingRecords]]:
    """Split the saves at each change between rows and missing ids, so that their order is kept."""
    for _, alike in groupby((save for save in saves if isinstance(save, MergeRows | MissingRecords)), key=type):
        yield list(alike)


def _rounds(saves: Sequence[Save]) -> Iterator[list[ReplaceDays | AttachDetails]]:
    """Split the saves into rounds in which no day is replaced after another save of that day.

    Then all days of a round are replaced at once, and details are attached to all of them afterwards.
    """
    current: list[ReplaceDays | AttachDetails] = []
    seen: set[date] = set()
    for save in saves:
        if not isinstance(save, ReplaceDays | AttachDetails):
            continue
        days = days_between(save.first_day, save.last_day)
        if isinstance(save, ReplaceDays) and not seen.isdisjoint(days):
            yield current
            current, seen = [], set()
        current.append(save)
        seen.update(days)
    if current:
        yield current


ROWS_WORTH_A_FRAME = 500
"""Rows from which on a save is parsed when it arrives: columns take a third of the memory, and new rows are still
in the processor's cache, which saves 0.2 s of 5 for 200,000 appointments. The commit parses smaller saves of all
practices at once."""

LONG = 256 * 1024
"""Characters from which on any save is parsed when it arrives: as Python's objects, rows of a hostile platform
take many times their bytes."""


def prepared(practice_id: str, table: RawTable, saves: Sequence[Save]) -> list[Save]:
    """Return the saves of one list with large row sets and pages of calls parsed."""
    pages = iter(read_values([page for save in saves if isinstance(save, ReplaceDays) for page in save.frames]))
    result: list[Save] = []
    for save in saves:
        match save:
            case MergeRows(rows=rows) if not isinstance(rows, Typed) and (
                len(rows) >= ROWS_WORTH_A_FRAME or _length(rows) >= LONG
            ):
                result.append(replace(save, rows=read_rows(table, [(practice_id, save)])))
            case ReplaceDays():
                result.append(replace(save, frames=[next(pages) for _ in save.frames]))
            case _:
                result.append(save)
    return result


def _length(value: Any) -> int:  # noqa: ANN401 - any JSON value
    """Return about how many characters a JSON value has; its depth is bounded by the parser."""
    match value:
        case str():
            return len(value)
        case dict():
            return sum(len(name) + _length(item) for name, item in value.items())
        case list() | tuple():
            return sum(map(_length, value))
        case _:
            return 1
