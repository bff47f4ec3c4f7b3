"""Reading a span of days of the phone-call CSV until one snapshot, or two equal passes, hold it whole."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from pipelines.endpoint import DateWindows
from pipelines.errors import ContractBroken
from pipelines.pages import CallsPage, Certificate, Window
from pipelines.steps import MoveCursor, ReadCalls, ReplaceDays, SideBySide, Step
from pipelines.strategies.paging import one

DAY = timedelta(days=1)
PASSES = 5
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


def read_days(
    strategy: DateWindows,
    start: date,
    end: date,
    *,
    kind: str,
    certified: OnCertified | None = None,
) -> Generator[Step, Any, bool]:
    """Read the calls of `[start, end)` and replace its days. Returns whether they are certified.

    Raises:
        ContractBroken: the answer holds calls of other days, so the date filter is not honoured.
    """
    first: CallsPage = yield _page(strategy, start, end, 0)
    size = min(strategy.csv_page_size, first.per_page or strategy.csv_page_size)
    if first.total_count <= size:
        yield _replace(start, end, kind, [first], "one page is one snapshot")
    elif (end - start) > DAY:
        parts = _parts(start, end, first.total_count)
        readers = [read_days(strategy, *part, kind=kind, certified=certified) for part in parts]
        verdicts: list[bool] = yield SideBySide(readers)
        return all(verdicts)
    elif not (yield from _paged_day(strategy, start, kind, first, size)):
        return False
    if certified is not None:
        yield certified(start, end)
    return True


def _page(strategy: DateWindows, start: date, end: date, number: int) -> ReadCalls:
    size = strategy.csv_page_size
    return ReadCalls(calls_query(start, end, size=size, page=number), number, size)


def _parts(start: date, end: date, total: int) -> list[tuple[date, date]]:
    days = (end - start).days
    count = max(2, min(days, -(-total // ROWS_PER_PART)))
    cuts = [start + timedelta(days=round(days * number / count)) for number in range(count + 1)]
    return [(begin, finish) for begin, finish in pairwise(cuts) if begin < finish]


def _paged_day(
    strategy: DateWindows, day: date, kind: str, first: CallsPage, size: int
) -> Generator[Step, Any, bool]:
    """A day beyond one page: two passes in a row with one total and equal rows hold it whole.

    Without ids nothing smaller proves it: a shift between pages would show in the second pass.
    """
    before: list[CallsPage] = []
    pages = [first, *(yield from _other_pages(strategy, day, first, size))]
    for attempt in range(1, PASSES + 1):
        if before and _equal(before, pages):
            yield _replace(day, day + DAY, kind, pages, "two passes hold the same rows", retries=attempt - 1)
            return True
        before = pages
        again: CallsPage = yield _page(strategy, day, day + DAY, 0)
        pages = [again, *(yield from _other_pages(strategy, day, again, size))]
    saved = _replace(day, day + DAY, kind, pages, "no two passes over a day beyond one page agree", retries=PASSES)
    assert saved.certificate is not None
    yield replace(saved, frames=(), certificate=replace(saved.certificate, certified=False))
    return False


def _other_pages(
    strategy: DateWindows, day: date, first: CallsPage, size: int
) -> Generator[Step, Any, Sequence[CallsPage]]:
    count = -(-first.total_count // size)
    steps = [_page(strategy, day, day + DAY, number) for number in range(1, count)]
    pages: Sequence[CallsPage] = yield SideBySide([one(step) for step in steps])
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
    start: date, end: date, kind: str, pages: Sequence[CallsPage], reason: str, *, retries: int = 0
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
    evidence = _certificate(Window(start, last), kind, pages, reason, retries, read_at)
    return ReplaceDays([page.frame for page in pages], start, last, read_at, certificate=evidence)


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
