"""Read a day of phone calls with more calls than a page of the CSV from the JSON list, until it is proven whole.

In the JSON list each call has an id. Without ids nothing proves a day that is read in pages, not even two equal
passes: if the server sorts calls of the same time differently for each page, every pass may repeat one call and
skip another.

Proof: a call that was read in the same form both before and after some answer was in the list at that answer. If
there are as many such calls as the total of that answer, they are the calls of the day at one instant, even if
calls were inserted, changed, deleted or reordered meanwhile. Assumptions: an id is not used twice, and no call
changes and changes back between two reads of it.

Requests: two passes if nothing changes, at most `PASSES`, or `PASSES_AT_REST` if only the order changes. A pass
has `total // page size + 1` pages, so that rows beyond a capped total are found. Each pass requests pages that are
smaller by one row, so that they end elsewhere.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vetl.core import steps
from vetl.core.pages import Certificate, Page, Row, Window, WindowKind, key_of
from vetl.discovery.conventions import QueryConventions
from vetl.reading.certified import are_unmoved
from vetl.reading.paging import Pass, certificate, follow, read_page, uncertified

PASSES = 5
PASSES_AT_REST = 12
"""If each answer sorts calls of the same minute at random, a pass over 65 pages misses one call in 40. Then six
passes before and six behind an answer miss none of 6,500."""
PASSES_OF_A_LIE = 2
PROVEN = "every call was read both before and after the same answer, and they add up to its total"


@dataclass(frozen=True, slots=True)
class Crowded:
    """The calls of a day, each once, and the certificate that they are complete, or uncertified."""

    rows: Sequence[Row]
    evidence: Certificate


def read_crowded(conventions: QueryConventions, window: Window, kind: WindowKind) -> steps.Plan[Crowded]:
    """Read the JSON list of a day until it is proven whole; `kind` is the kind in `control.windows`."""
    passes: list[Pass] = []
    largest = conventions.page_size
    lied = False
    while len(passes) < _most(passes, lied=lied):
        conventions = replace(conventions, lenient=lied or conventions.lenient)
        smaller = replace(conventions, page_size=max(1, largest - len(passes)))
        passes.append((yield from _one_pass(smaller, window)))
        largest, lied = min(largest, passes[0].size), lied or bool(passes[-1].lie)
        for number in range(1, len(passes)):
            rows = rows_at(passes, number)
            if rows is not None:
                return Crowded(rows, _evidence(passes, number, kind, rows))
    rows = list({key_of(row): row for done in passes for row in done.rows}.values())
    lie = next((done.lie for done in passes if done.lie), None)
    doubt = lie or passes[-1].refusal or "its calls were never read completely"
    evidence = _evidence(passes, -1, kind, rows)
    return Crowded(rows, uncertified(evidence, f"{doubt}, in {len(passes)} passes over a day beyond one page"))


def _most(passes: Sequence[Pass], *, lied: bool) -> int:
    if lied:
        return PASSES_OF_A_LIE
    return PASSES_AT_REST if _are_at_rest(passes) else PASSES


def _are_at_rest(passes: Sequence[Pass]) -> bool:
    """Return whether neither totals nor calls changed, so that the server only sorts each answer differently."""
    rows_by_key: dict[str, Row] = {}
    rows = (row for done in passes for row in done.rows)
    return (
        bool(passes)
        and are_unmoved(passes)
        and all(rows_by_key.setdefault(key_of(row), row) == row for row in rows)
    )


def rows_at(passes: Sequence[Pass], number: int) -> Sequence[Row] | None:
    """Return the rows of the list at the first answer of a pass, or `None` if they do not match its total."""
    answer = passes[number].pages[0]
    before, after = _nearest(reversed(passes[:number])), _nearest(passes[number:])
    now = {key_of(row): row for row in answer.rows}
    keys = (before.keys() & after.keys()) | now.keys()
    if any(done.lie for done in passes) or len(keys) != answer.total_count:
        return None
    rows = [now.get(key) or (after[key] if before[key] == after[key] else None) for key in keys]
    return None if None in rows else [row for row in rows if row is not None]


def _nearest(passes: Iterable[Pass]) -> dict[str, Row | None]:
    """Return each row as in the first of these passes with it, or `None` if that pass has it in two forms."""
    rows_by_key: dict[str, Row | None] = {}
    for done in passes:
        rows_of_pass: dict[str, Row | None] = {}
        for row in done.rows:
            key = key_of(row)
            rows_of_pass[key] = row if rows_of_pass.setdefault(key, row) == row else None
        rows_by_key = rows_of_pass | rows_by_key
    return rows_by_key


def _one_pass(conventions: QueryConventions, window: Window) -> steps.Plan[Pass]:
    first: Page = yield from read_page(conventions, window, 0)
    size = min(conventions.page_size, first.per_page or conventions.page_size)
    followed = yield from follow(conventions, window, first, first.total_count // size + 1, size)
    return Pass(window, (first, *followed.pages), size, unkept=followed.unkept)


def _evidence(passes: Sequence[Pass], number: int, kind: WindowKind, rows: Sequence[Row]) -> Certificate:
    return replace(
        certificate(passes[number], kind, retries=len(passes) - 1, reason=PROVEN),
        rows=len(rows),
        distinct_ids=len(rows),
        requests=sum(page.requests for done in passes for page in done.pages),
        started=passes[0].started,
        finished=passes[-1].read_at,
    )
