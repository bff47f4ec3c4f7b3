"""Decide all parameters of an unknown list in six requests, if the server behaves as configured.

Three of the six requests are pages that the read needs anyway. The requests also show whether rows keep their ids.
Parameters that they leave undecided are checked one by one afterwards. If the second page does not differ from the
first, all parameters are, and this module has spent two or three requests.

- The first page twice, and the second page: rows keep their ids, pages differ, and pages count from 0.
- Two ranges beside two rows that follow each other in time: a range that starts just after the earlier row lacks
  that row and holds the later row; a range that ends just before the later row lacks that row and holds the
  earlier row. So start and end are honoured to the second. The rows before the earlier row and after the later row
  must be missing too, because a single missing row may have been changed in between.
- A page of one row, while a larger page holds more.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, TypeVar

from vetl.core.errors import Unreachable, VetlError
from vetl.core.list_read import Capabilities, Key, Parameter, Reading, Result
from vetl.core.pages import Page, Window, key_of
from vetl.core.steps import Plan, Query, ReadPage, SideBySide
from vetl.discovery.conventions import (
    QueryConventions,
    contradiction,
    format_bound,
    has_strays,
    is_clear_of_midnights,
)
from vetl.discovery.identity import Identity, look
from vetl.discovery.page_parameters import ENOUGH, are_apart, are_same
from vetl.discovery.probes import ListKnowledge, PageProbe
from vetl.discovery.ranges import SECOND, Timed, timed_rows

A = TypeVar("A")
Pages = MutableMapping[frozenset[tuple[str, str]], Page]
"""Pages by their query."""


def plain_query(query: Query) -> dict[str, str]:
    """Return a query with all of its values as text."""
    return {name: str(value) for name, value in query.items()}


def reusing(pages: Pages, running: Plan[A]) -> Plan[A]:
    """Run a plan, but answer its requests from `pages` if a page has their query, each page once.

    A certificate compares the totals and ids of its pages, so a page that was read a few requests earlier proves
    as much. A page that contradicts its own total may be torn and is requested again.
    """
    answer: Any = None
    failure: VetlError | None = None
    while True:
        try:
            step = running.send(answer) if failure is None else running.throw(failure)
        except StopIteration as finished:
            return finished.value
        answer, failure = None, None
        if isinstance(step, ReadPage) and (page := pages.pop(frozenset(plain_query(step.query).items()), None)):
            if not contradiction(page, step.number, step.size):
                answer = page
                continue
        elif isinstance(step, SideBySide):
            step = replace(step, readers=[reusing(pages, reader) for reader in step.readers])
        try:
            answer = yield step
        except VetlError as error:
            failure = error


BESIDE = 10 * SECOND
SIDES = 2
"""Rows before and after a time that a range which ends there must lack."""


@dataclass(slots=True)
class FirstLook:
    """The result: evidence by parameter, the rows of a full page, and the pages that the read reuses."""

    evidence: dict[Key, str] = field(default_factory=dict[Key, str])
    size: int | None = None
    ids: Identity = field(default_factory=Identity)
    pages: Pages = field(default_factory=dict[frozenset[tuple[str, str]], Page])

    def decided(self, before: Capabilities) -> Capabilities:
        """Return the earlier capabilities with the parameters of this look honoured."""
        details: dict[Key, Mapping[str, object]] = {
            "start": {"bounds": "instant"},
            "end": {},
            "per_page": {"size": self.size},
            "page": {"base": 0},
        }
        honoured: dict[Key, Parameter] = {
            key: before.parameters[key].model_copy(update={"result": Result.HONOURED, **details[key]})
            for key in self.evidence
        }
        return Capabilities(parameters={**before.parameters, **honoured})


def first_look(reading: Reading) -> Plan[FirstLook]:
    """Send the six requests to a list of which nothing is known."""
    result, knowledge = FirstLook(), ListKnowledge(reading, reading.names)
    usual = QueryConventions(reading.names, page_size=reading.endpoint.page_size)
    wide, settled = _windows(reading, usual)

    def page(window: Window, number: int) -> PageProbe:
        query = plain_query(usual.page(window, number).query)
        answer = yield from _page_or_none(knowledge, query)
        if answer is not None:
            result.pages.setdefault(frozenset(query.items()), answer)
        return answer

    first = yield from page(wide, 0)
    if first is None or not first.rows:
        return result
    is_paged = first.total_count > len(first.rows)
    again = yield from page(settled if is_paged else wide, 0)
    if again is None:
        return result
    result.ids = yield from look(usual, wide, seen=(first, again))
    if result.ids.verdict == "changing" or not is_paged or len(again.rows) < ENOUGH:
        return result
    second = yield from page(settled, 1)
    if not are_same(first, again) or not are_apart(again, second):
        return result
    result.evidence["page"] = "pages 0 and 1 hold different rows, page 0 the same ones when it is asked for again"
    if reading.endpoint.strategy.has_range:
        result.evidence |= yield from _range(knowledge, usual, first)
    one = yield from knowledge.ask({**usual.filters(settled), usual.names.per_page: "1"})
    if one is not None and len(one.rows) == 1:
        result.evidence["per_page"] = f"pages of 1 and of {usual.page_size} rows hold 1 and {len(again.rows)}"
        result.size = min(usual.page_size, max(len(first.rows), len(again.rows)))
    return result


def _windows(reading: Reading, usual: QueryConventions) -> tuple[Window, Window]:
    """Return the windows of a first read, with and without the minutes in which late rows may appear."""
    if not reading.endpoint.strategy.has_range:
        return Window(), Window()
    margins = reading.margins
    through = usual.closed_bound(reading.now, margins.closing_lag)
    start = reading.local_midnight(reading.history_start) - margins.overlap
    return Window(start, through), Window(start, through - margins.overlap)


def _page_or_none(knowledge: ListKnowledge, query: Mapping[str, str]) -> PageProbe:
    """Read a page; return `None` if it fails, because some servers that count from 1 answer page 0 with a 5xx."""
    try:
        return (yield from knowledge.ask(query))
    except Unreachable:
        return None


def _range(knowledge: ListKnowledge, usual: QueryConventions, first: Page) -> Plan[dict[Key, str]]:
    """Return the evidence for start and end, both to the second, or an empty dictionary."""
    rows = sorted(timed_rows(first.rows), key=lambda item: item[1])
    pair = _neighbours(rows)
    if pair is None:
        return {}
    (earlier, at), (later, end) = pair
    before = {key_of(row) for row, time in rows if time <= at}
    behind = {key_of(row) for row, time in rows if time >= end}
    from_later = yield from _keys(knowledge, usual, at + BESIDE, end + 2 * SECOND)
    if key_of(later) not in from_later or from_later & before:
        return {}
    to_earlier = yield from _keys(knowledge, usual, at - SECOND, end - BESIDE)
    if key_of(earlier) not in to_earlier or to_earlier & behind:
        return {}
    evidence = "a range that ends seconds beside a row lacks it, and one that ends just behind a row holds it"
    return {"start": evidence, "end": evidence}


def _neighbours(rows: Sequence[Timed]) -> tuple[Timed, Timed] | None:
    """Return the two neighbouring rows with the smallest gap of more than 30 seconds that have rows on both sides.

    `rows` are sorted by time. The requested times beside each row are in the row's own minute, so that a server
    which cuts times to minutes is noticed, and away from midnight in every time zone.
    """
    pairs = [
        (earlier, later)
        for earlier, later in pairwise(rows[SIDES - 1 : len(rows) - SIDES + 1])
        if later[1] - earlier[1] > 3 * BESIDE
        and all(is_clear_of_midnights(at) for _, at in (earlier, later))
        and earlier[1].minute == (earlier[1] + BESIDE).minute
        and later[1].minute == (later[1] - BESIDE).minute
    ]
    return min(pairs, key=lambda pair: pair[1][1] - pair[0][1], default=None)


def _keys(knowledge: ListKnowledge, usual: QueryConventions, start: datetime, end: datetime) -> Plan[set[str]]:
    """Return the keys of a range; none if it is refused, exceeds one page, or holds rows from outside it."""
    names = usual.names
    query = {names.start: format_bound(start, "instant"), names.end: format_bound(end, "instant")}
    page = yield from knowledge.ask({**query, names.per_page: str(usual.page_size)})
    if page is None or page.total_count > len(page.rows) or has_strays(usual, Window(start, end), page):
        return set()
    return {key_of(row) for row in page.rows}
