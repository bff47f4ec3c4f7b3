"""Check whether the rows of a list keep their ids from one read to the next.

A certificate counts distinct ids, and a merge finds a row by its id. If a source returned the same row under
another id at each read, the read would be certified and the table would grow with every sync. So the first page is
read twice: before the first sync of a list, after each sync that brought new rows, and before each sync once ids
have changed.

Two rows are the same if they agree in everything but the id, times included, and if no other row of the page has
the same content. Rows that move between the reads leave fewer rows to compare, and cause no false verdict. Rows
with equal content on both sides of a page's end may change places, and then one of their ids appears again. So ids
are reported as changing if those of `SEVERAL` different rows change, if the page is the whole list, or if one row
has had `TOO_MANY` ids (or more than the list has rows) without a repetition. Requests: two; none for a list
without changes; at most `TOO_MANY` if ids seem to change.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from json import dumps
from typing import Any, Literal

from vetl.core.errors import Failing, RequestRefused
from vetl.core.list_read import Capabilities, Outcome, Reading
from vetl.core.pages import Certificate, Page, Row, Window, WindowKind, key_of
from vetl.core.steps import Flush, Learnt, MergeRows, Plan, do
from vetl.discovery.conventions import QueryConventions, conventions_of

IDS = "ids"
READS = 3
"""Reads of a page whose rows move."""
SEVERAL = 3
TOO_MANY = 12
"""Most reads of one page. Of 30 rows with equal content that change places at random, one appears again within 12
reads in 92 of 100 cases; the next sync corrects a wrong verdict, because it checks again."""

Verdict = Literal["stable", "changing", "unknown"]


@dataclass(frozen=True, slots=True)
class Identity:
    """The verdict on the ids of a list. `finding` describes the change, if the ids change."""

    verdict: Verdict = "unknown"
    finding: str = ""


def compared(reads: Sequence[Page]) -> Identity:
    """Compare the ids in several reads of one page."""
    ids_by_content: dict[str, list[str]] = {}
    for page in reads:
        for content, identity in _alone(page.rows).items():
            ids_by_content.setdefault(content, []).append(identity)
    again = [ids for ids in ids_by_content.values() if len(ids) > 1]
    changed = [ids for ids in again if len(set(ids)) > 1]
    if not changed:
        return Identity("stable" if again else "unknown")
    new_each_time = [ids for ids in changed if len(set(ids)) == len(ids)]
    rows = reads[-1].total_count
    is_certain = (
        len(new_each_time) >= SEVERAL
        or all(page.total_count <= len(page.rows) for page in reads)
        or any(len(ids) >= min(TOO_MANY, rows + 1) for ids in new_each_time)
    )
    if 2 * len(new_each_time) <= len(again):
        return Identity()
    share = f"{len(new_each_time)} of {len(again)} rows"
    finding = f"ids are not stable: {share} came back under another id when their page was read again"
    return Identity("changing" if is_certain else "unknown", finding)


def _alone(rows: Sequence[Row]) -> dict[str, str]:
    """Return the id of each row by its content; leave out rows with equal content."""
    contents = [(_content(row), str(row["id"])) for row in rows if row.get("id") is not None]
    often = Counter(content for content, _ in contents)
    return {content: identity for content, identity in contents if often[content] == 1}


def _content(row: Row) -> str:
    return dumps({name: value for name, value in row.items() if name != "id"}, sort_keys=True, default=str)


def look(conventions: QueryConventions, window: Window, *, seen: Sequence[Page] = ()) -> Plan[Identity]:
    """Read the first page of a window until it is clear whether its rows keep their ids.

    `seen` holds earlier reads of that page. If the ids change, an uncertified certificate records it.
    """
    pages = list(seen)
    ids = compared(pages)
    while len(pages) < READS or (ids.finding and len(pages) < TOO_MANY):
        if ids.verdict != "unknown" or (pages and not pages[0].rows):
            break
        pages.append((yield from do(conventions.page(window, 0, lenient=True))))
        ids = compared(pages)
    if ids.verdict == "changing":
        evidence = Certificate(
            window=window,
            kind=WindowKind.IDENTITY,
            total_first=pages[0].total_count,
            total_last=pages[-1].total_count,
            rows=sum(len(page.rows) for page in pages),
            distinct_ids=len({key_of(row) for page in pages for row in page.rows}),
            requests=sum(page.requests for page in pages),
            retries=len(pages) - 1,
            certified=False,
            reason=ids.finding,
            started=pages[0].server_time,
            finished=pages[-1].server_time,
        )
        yield MergeRows((), pages[-1].server_time, certificate=evidence)
    if ids.verdict != "unknown":
        words = ids.finding or "rows keep their ids when their page is asked for again"
        yield Learnt(IDS, ids.verdict, words)
    return ids


def look_first(reading: Reading, capabilities: Capabilities, seen: Identity) -> Plan[Identity]:
    """Check the ids before a read, if the list was never read or its ids changed at the last check.

    `seen` is the verdict of a check that this sync has made already.
    """
    if seen.verdict != "unknown" or (reading.cursor and not were_changing(reading.capabilities)):
        return seen
    try:
        return (yield from _look(reading, capabilities))
    except RequestRefused:
        return seen


def look_last(reading: Reading, outcome: Outcome) -> Plan[Outcome]:
    """Check the ids after new rows came: a new row may be a stored row under another id."""
    if not (reading.endpoint.strategy.has_list and reading.endpoint.strategy.has_ids):
        return outcome
    # A full reconcile ignores stored capabilities, but by now this sync has stored its own.
    capabilities = Capabilities.of(reading.capabilities, reading.names)
    try:
        ids = yield from _look(reading, capabilities)
    except Failing as failing:
        reason = f"its ids are not checked: {failing}" if outcome.certified else outcome.reason
        return replace(outcome, certified=False, reason=reason)
    yield Flush()
    return unstable_outcome(ids, outcome.notes) if ids.verdict == "changing" else outcome


def unstable_outcome(ids: Identity, notes: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of a list whose ids change. No more rows are stored, so that the table does not grow."""
    effect = (
        "the list is not read until its ids are stable; stored rows may be duplicates or deleted at the source"
    )
    return Outcome(False, None, f"{ids.finding}; {effect}", notes)


def were_changing(capabilities: Mapping[str, Any]) -> bool:
    """Return whether the ids of a list changed at the last check."""
    return capabilities.get(IDS) == "changing"


def from_scratch(reading: Reading) -> Reading:
    """Return the reading without cursor and capabilities: they rest on ids that changed and are stable now."""
    return replace(reading, cursor={}, capabilities={}, reconcile="full")


def _look(reading: Reading, capabilities: Capabilities) -> Plan[Identity]:
    conventions = conventions_of(reading, capabilities)
    window = conventions.widest(reading) if reading.endpoint.strategy.has_range else Window()
    return (yield from look(conventions, window))
