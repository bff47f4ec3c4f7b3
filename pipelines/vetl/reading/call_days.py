"""Read a span of days of the phone-call CSV, cut until each answer is one snapshot of whole days.

The CSV is not read in pages, because several pages of rows without ids are no proof. A single day with more calls
than a page is read from the JSON list. A span that the server refuses is read in halves, down to a day. Requests:
a window of `d` days is cut into at most `2d - 1` windows. Each of them is read once, or twice if it has fewer
calls than are stored or contradicts its total.

Proof of a day that is read from the JSON list: two passes in turn, each with as many distinct ids as an unchanged
total, show the same calls. So these were the calls of the day between the two, even if the list is reordered.
Assumptions: an id is not used twice, and no call changes and changes back between two reads of it. At most
`PASSES` passes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise

from vetl.core.endpoint import DateWindows
from vetl.core.errors import ContractBroken, NotFound, RequestRefused, TooLarge, WrongTotal
from vetl.core.pages import CallsPage, Certificate, Row, Window, WindowKind
from vetl.core.row_keys import key_of
from vetl.core.steps import (
    AttachDetails,
    MergeRows,
    MoveCursor,
    Plan,
    ReadCalls,
    ReplaceDays,
    Save,
    SideBySide,
    do,
)
from vetl.discovery.conventions import QueryConventions
from vetl.reading.paging import Pass, certificate, read_pass, uncertified

PASSES = 5
PASSES_OF_A_LIE = 2
PROVEN = "two passes show the same calls, as many as their total"

DAY = timedelta(days=1)
FILLED = 0.7
"""Part of a page that each part of a cut window should fill."""

OnCertified = Callable[[date, date], MoveCursor]


def calls_query(start: date, end: date, *, size: int, page: int = 0) -> dict[str, str]:
    """Return the query for the calls of `[start, end)`."""
    # Contract (Phone calls): both dates are inclusive, and pages count from 0.
    return {
        "start_date": start.isoformat(),
        "end_date": (end - DAY).isoformat(),
        "page": str(page),
        "per_page": str(size),
    }


@dataclass(slots=True)
class SharedDays:
    """The observation that all windows share: a total was wrong, so no page is requested again for it."""

    lies: bool = False


@dataclass(frozen=True, slots=True)
class DaysPurpose:
    """The purpose of the read of days, which all of its parts share.

    `kind` is the kind in `control.windows`. `json` are the conventions of the JSON list. `stored` counts the
    stored calls of each day. An earlier sync read the days before `sealed_before` whole. `on_certified` moves the
    cursor behind each certified part.
    """

    kind: WindowKind
    json: QueryConventions
    shared: SharedDays
    stored: Mapping[date, int]
    sealed_before: date | None = None
    on_certified: OnCertified | None = None

    def known(self, start: date, end: date) -> int:
        """Return the number of stored calls of `[start, end)`."""
        return sum(count for day, count in self.stored.items() if start <= day < end)


def read_days(strategy: DateWindows, start: date, end: date, purpose: DaysPurpose) -> Plan[str | None]:
    """Read the calls of `[start, end)` and replace its days; return the reason if they are not certified.

    Raise `ContractBroken` if the answer has calls of other days, so the date filter is not honoured.
    """
    try:
        page = yield from _settled_look(strategy, start, end, purpose)
    except (RequestRefused, TooLarge) as error:
        if isinstance(error, NotFound) or end - start == DAY or purpose.kind is WindowKind.TAIL:
            raise
        return (yield from _in_halves(strategy, start, end, purpose))
    size = _size(strategy, page)
    if page.rows >= size and end - start > DAY:
        parts = _parts(start, end, page.total_count, size)
        doubts = yield from do(SideBySide([read_days(strategy, *part, purpose) for part in parts]))
        return next((doubt for doubt in doubts if doubt), None)
    if page.rows >= size:
        doubt = yield from _read_crowded(start, purpose)
    else:
        doubt = yield from _replace(start, end, purpose, page)
    if doubt is None and purpose.on_certified is not None:
        yield purpose.on_certified(start, end)
    return doubt and f"{start} to {end - DAY}: {doubt}"


def _in_halves(strategy: DateWindows, start: date, end: date, purpose: DaysPurpose) -> Plan[str | None]:
    """Read a span in halves: the server may limit the days of a range, or the answer is too large."""
    middle = start + (end - start).days // 2 * DAY
    doubt = yield from read_days(strategy, start, middle, purpose)
    return doubt or (yield from read_days(strategy, middle, end, purpose))


def _settled_look(strategy: DateWindows, start: date, end: date, purpose: DaysPurpose) -> Plan[CallsPage]:
    """Read the first page, a second time if it has fewer calls than are stored or contradicts its total."""
    page = yield from _look(strategy, start, end, purpose)
    if page.total_count >= purpose.known(start, end) and not _contradicts(strategy, page):
        return page
    del page  # eight windows are read at a time, and each answer may have 8 MiB
    return (yield from _look(strategy, start, end, purpose))


def _look(strategy: DateWindows, start: date, end: date, purpose: DaysPurpose) -> Plan[CallsPage]:
    """Read the first page; accept it if it contradicts its own total again and again."""
    size = strategy.csv_page_size
    step = ReadCalls(calls_query(start, end, size=size), 0, size, days=(start, end - DAY))
    if not purpose.shared.lies:
        try:
            return (yield from do(step))
        except WrongTotal:
            purpose.shared.lies = True
    return (yield from do(replace(step, lenient=True)))


def _size(strategy: DateWindows, page: CallsPage) -> int:
    """Return the number of rows of a full page."""
    return min(strategy.csv_page_size, page.per_page or strategy.csv_page_size)


def _contradicts(strategy: DateWindows, page: CallsPage) -> bool:
    return page.rows != page.total_count and page.rows < _size(strategy, page)


def _parts(start: date, end: date, total: int, size: int) -> list[tuple[date, date]]:
    days = (end - start).days
    count = max(2, min(days, -(-total // max(1, int(FILLED * size)))))
    cuts = [start + timedelta(days=round(days * number / count)) for number in range(count + 1)]
    return [(begin, finish) for begin, finish in pairwise(cuts) if begin < finish]


def _replace(start: date, end: date, purpose: DaysPurpose, page: CallsPage) -> Plan[str | None]:
    """Replace days by the calls of one answer.

    If the total is wrong, the calls are stored only if the days have no stored calls yet.
    """
    last = end - DAY
    if not _are_within(page, start, last):
        raise ContractBroken(
            f"phone_calls: asked for {start} to {last}, got calls of {page.first_day} to {page.last_day}: "
            "the server does not honour start_date and end_date"
        )
    evidence = _certificate(Window(start, last), purpose.kind, page)
    if page.total_count != page.rows:
        doubt = f"one page holds {page.rows} calls, but the total is {page.total_count}"
        evidence = uncertified(evidence, doubt)
    replaced = ReplaceDays(
        [page.frame], start, last, evidence.finished, purpose.sealed_before, certificate=evidence
    )
    return (yield from _save(replaced, purpose))


def _are_within(page: CallsPage, first: date, last: date) -> bool:
    """Return whether no call has another day. Calls without a readable day go to quarantine, and prove nothing."""
    return page.first_day is None or page.last_day is None or (first <= page.first_day and page.last_day <= last)


def _read_crowded(day: date, purpose: DaysPurpose) -> Plan[str | None]:
    """Read a day with more calls than a page from the JSON list, with its details in the same commit."""
    passes: list[Pass] = []
    while not _are_proof(passes) and len(passes) < (PASSES_OF_A_LIE if passes and passes[-1].lie else PASSES):
        conventions = replace(purpose.json, lenient=bool(passes and passes[-1].lie))
        passes.append((yield from read_pass(conventions, Window(day, day))))
    last = passes[-1]
    rows = list(_calls(passes[-1:] if _are_proof(passes) else passes).values())
    evidence = replace(
        certificate(last, purpose.kind, retries=len(passes) - 1, reason=PROVEN),
        rows=len(rows),
        distinct_ids=len(rows),
        requests=sum(page.requests for done in passes for page in done.pages),
        started=passes[0].started,
    )
    if not _are_proof(passes):
        doubt = last.lie or last.refusal or "its calls were never the same in two passes"
        evidence = uncertified(evidence, f"{doubt}, in {len(passes)} passes over a day beyond one page")
    replaced = ReplaceDays([], day, day, evidence.finished, purpose.sealed_before, rows=rows, certificate=evidence)
    of_details = replace(evidence, kind=WindowKind.DETAILS, requests=0)
    return (yield from _save(replaced, purpose, AttachDetails(rows, day, day, certificate=of_details)))


def _are_proof(passes: Sequence[Pass]) -> bool:
    earlier, last = passes[-2:-1], passes[-1:]
    return bool(earlier) and earlier[0].whole and last[0].whole and _calls(earlier) == _calls(last)


def _calls(passes: Sequence[Pass]) -> dict[str, Row]:
    """Return each call by its id, as it came last."""
    return {key_of(row): row for done in passes for row in done.rows}


def _save(replaced: ReplaceDays, purpose: DaysPurpose, *more: Save) -> Plan[str | None]:
    """Replace days; if the read is not certified and some calls are stored, the stored calls stay."""
    evidence = replaced.certificate
    assert evidence is not None
    if not evidence.certified and purpose.known(replaced.first_day, replaced.last_day + DAY):
        yield MergeRows((), replaced.read_at, certificate=evidence)
        return evidence.reason
    yield replaced
    yield from more
    return None if evidence.certified else evidence.reason


def _certificate(window: Window, kind: WindowKind, page: CallsPage) -> Certificate:
    return Certificate(
        window=window,
        kind=kind,
        total_first=page.total_count,
        total_last=page.total_count,
        rows=page.rows,
        distinct_ids=None,
        requests=page.requests,
        retries=0,
        certified=True,
        reason="one page is one snapshot",
        started=page.server_time,
        finished=page.server_time,
    )
