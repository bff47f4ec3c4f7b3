"""A list that nothing is known of, asked for at once as it is read from a server that speaks as configured.

Where it does, this decides every parameter that the first read needs, and shows whether rows keep their ids, for
six requests, of which three are pages that are read anyway. What it does not show is asked for one by one; so is
everything where the second page is not told apart from the first, after two requests or three.

- The first page twice and the second: rows keep their ids, pages are told apart, they count from 0.
- Of two rows that follow each other in time, a range from just behind the earlier one lacks it and holds the
  later one, and a range to just before the later one lacks that and holds the earlier one: start and end are
  honoured, to the second. The rows before the earlier one, and those behind the later one, are to be missing as
  well: one row that is changed meanwhile is no proof.
- A page of one row, where a larger one holds more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from pipelines.core.capabilities import Capabilities, Key, Parameter, Result
from pipelines.core.errors import Unreachable
from pipelines.core.pages import Page, Window
from pipelines.core.reading import Reading
from pipelines.core.steps import Plan
from pipelines.discovery.asking import Asking, ListKnowledge, ask, written
from pipelines.discovery.edges import SECOND, Timed, is_clear_of_midnights, timed_rows
from pipelines.discovery.identity import Identity, look
from pipelines.discovery.page_numbers import ENOUGH, are_apart, are_same
from pipelines.reading.certified import has_strays
from pipelines.reading.conventions import QueryConventions
from pipelines.reading.reuse import Pages, question
from pipelines.reading.rows import key_of

BESIDE = 10 * SECOND
SIDES = 2
"""Rows before and behind a time, which a range that ends there is to lack."""


@dataclass(slots=True)
class FirstLook:
    """What a look has shown: evidence by parameter, rows of a full page, and pages that a read will ask for."""

    evidence: dict[Key, str] = field(default_factory=dict[Key, str])
    size: int | None = None
    ids: Identity = field(default_factory=Identity)
    pages: Pages = field(default_factory=dict[frozenset[tuple[str, str]], Page])

    def decided(self, before: Capabilities) -> Capabilities:
        """What was known before, and what this shows."""
        shown: dict[Key, Mapping[str, object]] = {
            "start": {"bounds": "instant"},
            "end": {},
            "per_page": {"size": self.size},
            "page": {"base": 0},
        }
        honoured: dict[Key, Parameter] = {
            key: before.parameters[key].model_copy(update={"result": Result.HONOURED, **shown[key]})
            for key in self.evidence
        }
        return Capabilities(parameters={**before.parameters, **honoured})


def first_look(reading: Reading) -> Plan[FirstLook]:
    """Look at a list that nothing is known of."""
    result, knowledge = FirstLook(), ListKnowledge(reading, reading.names)
    usual = QueryConventions(reading.names, page_size=reading.endpoint.page_size)
    wide, settled = _windows(reading, usual)

    def page(window: Window, number: int) -> Asking:
        query = question(usual.page(window, number).query)
        answer = yield from _given(knowledge, query)
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
    one = yield from ask(knowledge, {**usual.filters(settled), usual.names.per_page: "1"})
    if one is not None and len(one.rows) == 1:
        result.evidence["per_page"] = f"pages of 1 and of {usual.page_size} rows hold 1 and {len(again.rows)}"
        result.size = min(usual.page_size, max(len(first.rows), len(again.rows)))
    return result


def _windows(reading: Reading, usual: QueryConventions) -> tuple[Window, Window]:
    """The windows that a first read asks for, with and without the minutes into which rows may come late."""
    if not reading.endpoint.strategy.has_range:
        return Window(), Window()
    margins = reading.margins
    through = usual.closed_bound(reading.now, margins.closing_lag)
    start = reading.local_midnight(reading.history_start) - margins.overlap
    return Window(start, through), Window(start, through - margins.overlap)


def _given(knowledge: ListKnowledge, query: Mapping[str, str]) -> Asking:
    """A server that counts from 1 may break over page 0."""
    try:
        return (yield from ask(knowledge, query))
    except Unreachable:
        return None


def _range(knowledge: ListKnowledge, usual: QueryConventions, first: Page) -> Plan[dict[Key, str]]:
    """Evidence of start and end, both to the second, or of neither."""
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
    """The two rows that follow each other most closely, though not too closely, with others on both sides.

    `rows` are sorted by time. The times beside them that are asked for are in the same minute, so that a server
    which cuts times to minutes shows it, and not near a midnight of any zone.
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
    """All rows of a range; none where it is refused, is not on one page, or holds rows that are not of it."""
    names = usual.names
    query = {names.start: written(start, "instant"), names.end: written(end, "instant")}
    page = yield from ask(knowledge, {**query, names.per_page: str(usual.page_size)})
    if page is None or page.total_count > len(page.rows) or has_strays(usual, Window(start, end), page):
        return set()
    return {key_of(row) for row in page.rows}
