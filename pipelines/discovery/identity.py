"""Whether the rows of a list keep their ids from one read to the next: everything else rests on that.

A certificate counts distinct ids, and a merge finds a row by its id. A source that tells the same row under
another id at each read would be certified and would grow here with every sync. So the first page is asked for
twice: before a list is first read, after each sync that brought new rows, and before each sync once the ids were
seen to change.

Argument: a row is the same if all of it but the id is, its times included, and no other row of the page is its
twin. Rows that move meanwhile only leave less to compare. Twins that the end of a page parts may change places:
then one of their ids comes again. So ids are said to change where those of `SEVERAL` different rows do, where the
page is the whole list, or where one row has had `TOO_MANY` ids, or more than the list has rows, none twice.
Requests: two; for a list without news none; where ids seem to change at most `TOO_MANY`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from json import dumps
from typing import Any, Literal

from pipelines.core.capabilities import Capabilities
from pipelines.core.errors import RequestRefused
from pipelines.core.pages import Page, Row, Window, WindowKind
from pipelines.core.reading import Outcome, Reading
from pipelines.core.steps import Flush, Learnt, MergeRows, Plan, do
from pipelines.discovery.keeping import conventions_of
from pipelines.reading.conventions import QueryConventions
from pipelines.reading.paging import Pass, certificate, uncertified

IDS = "ids"
LOOKS = 3
"""For a page whose rows move."""
SEVERAL = 3
TOO_MANY = 12
"""Reads of one page at most. Of 30 twins that change places at random one comes again within as many in 92 of 100
cases, and what is believed wrongly is asked anew by the next sync."""

Verdict = Literal["stable", "changing", "unknown"]


@dataclass(frozen=True, slots=True)
class Identity:
    """What looking at one page again has shown, in words where the ids change."""

    verdict: Verdict = "unknown"
    finding: str = ""


def compared(reads: Sequence[Page]) -> Identity:
    """What several reads of one page tell of its rows' ids."""
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
    """The id of each row by all the rest of it; rows that have a twin on the page are left out."""
    contents = [(_content(row), str(row["id"])) for row in rows if row.get("id") is not None]
    often = Counter(content for content, _ in contents)
    return {content: identity for content, identity in contents if often[content] == 1}


def _content(row: Row) -> str:
    return dumps({name: value for name, value in row.items() if name != "id"}, sort_keys=True, default=str)


def look(
    conventions: QueryConventions,
    window: Window,
    *,
    kind: WindowKind = WindowKind.IDENTITY,
    seen: Sequence[Page] = (),
) -> Plan[Identity]:
    """Ask for the first page of a window again and again, until it is clear whether its rows keep their ids.

    `seen`: that page, as often as it was asked for already. Ids that change leave a certificate that says so.
    """
    pages = list(seen)
    ids = compared(pages)
    while len(pages) < LOOKS or (ids.finding and len(pages) < TOO_MANY):
        if ids.verdict != "unknown" or (pages and not pages[0].rows):
            break
        pages.append((yield from do(conventions.page(window, 0, lenient=True))))
        ids = compared(pages)
    if ids.verdict == "changing":
        evidence = certificate(Pass(window, (pages[-1],), conventions.page_size), kind, retries=len(pages) - 1)
        yield MergeRows((), pages[-1].server_time, certificate=uncertified(evidence, ids.finding))
    if ids.verdict != "unknown":
        words = ids.finding or "rows keep their ids when their page is asked for again"
        yield Learnt(IDS, ids.verdict, words)
    return ids


def look_first(reading: Reading, capabilities: Capabilities, seen: Identity) -> Plan[Identity]:
    """Before a list is read: where it never was, or where its ids were seen to change.

    `seen`: what looking at it has shown already.
    """
    if seen.verdict != "unknown" or (reading.cursor and not were_changing(reading.capabilities)):
        return seen
    try:
        return (yield from look(conventions_of(reading, capabilities), _all_of(reading)))
    except RequestRefused:
        return seen


def look_last(reading: Reading, outcome: Outcome) -> Plan[Outcome]:
    """After new rows came to a list that was read before: one of them may be here already, under another id."""
    if not (reading.endpoint.strategy.has_list and reading.endpoint.strategy.has_ids):
        return outcome
    # A full reconcile asks everything anew, but how the list is asked for at all is known by the time of a look.
    capabilities = Capabilities.of(reading.capabilities, reading.names)
    ids = yield from look(conventions_of(reading, capabilities), _all_of(reading))
    yield Flush()
    return unsettled(ids, outcome.notes) if ids.verdict == "changing" else outcome


def unsettled(ids: Identity, notes: tuple[str, ...] = ()) -> Outcome:
    """What is said of a list whose ids change: nothing more of it is taken in, so that nothing grows."""
    effect = (
        "rows cannot be told apart, so the list is not read until they stay; what is here may be double or gone"
    )
    return Outcome(False, None, f"{ids.finding}; {effect}", notes)


def were_changing(capabilities: Mapping[str, Any]) -> bool:
    """Whether the ids of a list were not stable when they were last looked at."""
    return capabilities.get(IDS) == "changing"


def anew(reading: Reading) -> Reading:
    """Ids that changed have become stable: nothing that is known here, of rows or of the list, rests on them."""
    return replace(reading, cursor={}, capabilities={}, reconcile="full")


def _all_of(reading: Reading) -> Window:
    return reading.whole_history if reading.endpoint.strategy.has_range else Window()
