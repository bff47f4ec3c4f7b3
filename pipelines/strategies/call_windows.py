"""Reading a span of days of the phone-call CSV until one snapshot, or two equal passes, hold it whole."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from pipelines.endpoint import DateWindows
from pipelines.errors import ContractBroken, WrongTotal
from pipelines.pages import CallsPage, Certificate, Window
from pipelines.steps import MergeRows, MoveCursor, ReadCalls, ReplaceDays, SideBySide, Step

DAY = timedelta(days=1)
PASSES = 5
PASSES_OF_A_LIE = 1
ROWS_PER_PART = 3_500

OnCertified = Callable[[date, date], MoveCursor]


def calls_query(start: date, end: date, *, size: int, page: int = 0) -> dict[str, str]:
    """The query for calls of `[start, end)`. Contract, Phone calls: both dates are inclusive, pages from 0."""
    return {
        "start_date": start.isoformat(),
        "end_date": (end - DAY).isoformat(),
        "page": str(page),
        "per_page": str(size),
    }


@dataclass(frozen=True, slots=True)
class DaysPurpose:
    """What days are read for. `kind` names them in `control.windows`; `certified` moves the cursor.

    Days before `sealed_before` were read whole by an earlier sync. `here`: how many calls each day has here.
    `lies`: totals that contradicted their rows, shared by all windows of a sync: after the first one, a page is
    no longer asked for again because of its total.
    """

    kind: str
    certified: OnCertified | None = None
    sealed_before: date | None = None
    here: Mapping[date, int] = field(default_factory=dict[date, int])
    lies: list[str] = field(default_factory=list[str])

    def known(self, start: date, end: date) -> int:
        """How many calls of `[start, end)` are here."""
        return sum(count for day, count in self.here.items() if start <= day < end)


def read_days(
    strategy: DateWindows, start: date, end: date, purpose: DaysPurpose
) -> Generator[Step, Any, str | None]:
    """Read the calls of `[start, end)` and replace its days. Returns why they are not certified, if so.

    An answer with fewer calls than are here is looked at twice before it is believed.

    Raises:
        ContractBroken: the answer holds calls of other days, so the date filter is not honoured.
    """
    first = yield from _look(strategy, start, end, 0, purpose)
    if first.total_count < purpose.known(start, end):
        first = yield from _look(strategy, start, end, 0, purpose)
    size = min(strategy.csv_page_size, first.per_page or strategy.csv_page_size)
    if first.rows == first.total_count <= size:
        yield _replace(start, end, purpose, [first], "one page is one snapshot")
    elif (end - start) > DAY and first.rows >= size:
        parts = _parts(start, end, first.total_count)
        doubts: list[str | None] = yield SideBySide([read_days(strategy, *part, purpose) for part in parts])
        return next((doubt for doubt in doubts if doubt), None)
    elif doubt := (yield from _paged(strategy, start, end, purpose, first)):
        return doubt
    if purpose.certified is not None:
        yield purpose.certified(start, end)
    return None


def _look(
    strategy: DateWindows, start: date, end: date, number: int, purpose: DaysPurpose
) -> Generator[Step, Any, CallsPage]:
    """One page, taken as it is where it goes on contradicting its own total."""
    step = _page(strategy, start, end, number)
    if not purpose.lies:
        try:
            return (yield step)
        except WrongTotal as error:
            purpose.lies.append(str(error))
    return (yield replace(step, lenient=True))


def _page(strategy: DateWindows, start: date, end: date, number: int) -> ReadCalls:
    size = strategy.csv_page_size
    return ReadCalls(calls_query(start, end, size=size, page=number), number, size)


def _parts(start: date, end: date, total: int) -> list[tuple[date, date]]:
    days = (end - start).days
    count = max(2, min(days, -(-total // ROWS_PER_PART)))
    cuts = [start + timedelta(days=round(days * number / count)) for number in range(count + 1)]
    return [(begin, finish) for begin, finish in pairwise(cuts) if begin < finish]


def _paged(
    strategy: DateWindows, start: date, end: date, purpose: DaysPurpose, first: CallsPage
) -> Generator[Step, Any, str | None]:
    """A day beyond one page: two passes in a row with one total and equal rows hold it whole.

    Without ids nothing smaller proves it: a shift between pages would show in the second pass. Days whose
    total lies end here too; their calls are kept where none are here yet, and never certified.
    """
    before: list[CallsPage] = []
    pages = [first, *(yield from _other_pages(strategy, start, end, purpose, first))]
    attempts = 0
    while attempts < (PASSES_OF_A_LIE if _lie(pages) else PASSES):
        attempts += 1
        if before and _equal(before, pages):
            reason = "two passes hold the same rows"
            yield _replace(start, end, purpose, pages, reason, retries=attempts - 1)
            return None
        before = pages
        again = yield from _look(strategy, start, end, 0, purpose)
        pages = [again, *(yield from _other_pages(strategy, start, end, purpose, again))]
    doubt = _lie(pages) or "no two passes over a day beyond one page agree"
    saved = _replace(start, end, purpose, pages, doubt, retries=attempts)
    assert saved.certificate is not None
    evidence = replace(saved.certificate, certified=False)
    if purpose.known(start, end):
        yield MergeRows((), saved.read_at, certificate=evidence)
    else:
        yield replace(saved, certificate=evidence)
    return f"{start} to {end - DAY}: {doubt}"


def _lie(pages: Sequence[CallsPage]) -> str | None:
    """How an unmoved total contradicts the rows, in words."""
    totals = {page.total_count for page in pages}
    rows = sum(page.rows for page in pages)
    if len(totals) > 1 or totals == {rows}:
        return None
    return f"its pages hold {rows} calls where the total is {pages[0].total_count}"


def _other_pages(
    strategy: DateWindows, start: date, end: date, purpose: DaysPurpose, first: CallsPage
) -> Generator[Step, Any, Sequence[CallsPage]]:
    size = min(strategy.csv_page_size, first.per_page or strategy.csv_page_size)
    count = -(-first.total_count // size) if first.rows >= size else 1
    readers = [_look(strategy, start, end, number, purpose) for number in range(1, count)]
    pages: Sequence[CallsPage] = yield SideBySide(readers)
    return pages


def _equal(one_pass: Sequence[CallsPage], other: Sequence[CallsPage]) -> bool:
    totals = {page.total_count for page in (*one_pass, *other)}
    rows = sum(page.rows for page in other)
    return (
        len(totals) == 1
        and rows == other[0].total_count
        and len(one_pass) == len(other)
        and all(a.fingerprint == b.fingerprint for a, b in zip(one_pass, other, strict=True))
    )


def _replace(
    start: date, end: date, purpose: DaysPurpose, pages: Sequence[CallsPage], reason: str, *, retries: int = 0
) -> ReplaceDays:
    last = end - DAY
    for page in pages:
        if page.rows and not (
            page.first_day and page.last_day and start <= page.first_day and page.last_day <= last
        ):
            raise ContractBroken(
                f"phone_calls: asked for {start} to {last}, got calls of {page.first_day} to {page.last_day}: "
                "the server does not honour start_date and end_date"
            )
    read_at = max(page.server_time for page in pages)
    evidence = _certificate(Window(start, last), purpose.kind, pages, reason, retries, read_at)
    frames = [page.frame for page in pages]
    return ReplaceDays(frames, start, last, read_at, purpose.sealed_before, certificate=evidence)


def _certificate(
    window: Window, kind: str, pages: Sequence[CallsPage], reason: str, retries: int, read_at: datetime
) -> Certificate:
    return Certificate(
        window=window,
        kind=kind,
        total_first=pages[0].total_count,
        total_last=pages[-1].total_count,
        rows=sum(page.rows for page in pages),
        distinct_ids=None,
        requests=sum(page.requests for page in pages),
        retries=retries,
        certified=True,
        reason=reason,
        started=pages[0].server_time,
        finished=read_at,
    )
