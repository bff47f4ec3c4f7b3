"""Read a span of days of the phone-call CSV, cut until each answer is one snapshot of whole days.

The CSV is not read in pages, because several pages of rows without ids are no proof. A single day with more calls
than a page is read from the JSON list (crowded_day.py). If that list is refused, the day is read in pages of the
CSV and never certified. A span that the server refuses is read in halves, down to a day. Requests: a window of
`d` days is cut into at most `2d - 1` windows. Each of them is read once, or twice if it has fewer calls than are
stored or contradicts its total.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import pairwise

from vetl.core import steps
from vetl.core.endpoint import DateWindows
from vetl.core.errors import ContractBroken, Failing, NotFound, RequestRefused, TooLarge, WrongTotal
from vetl.core.pages import CallsPage, Certificate, Row, Window, WindowKind, instant
from vetl.discovery.conventions import QueryConventions
from vetl.reading.crowded_day import read_crowded
from vetl.reading.paging import MOST_FAILING, uncertified

DAY = timedelta(days=1)
FILLED = 0.7
"""Part of a page that each part of a cut window should fill."""

ALIKE = 0.9
"""Part of the calls on a page of the CSV that the JSON list must have at the same minute. On a day of thousands of
calls, seven in ten have a match by chance in any zone; and calls come and go between the two reads."""
MINUTE = len("2026-01-09 04:15")

PAGES_AT_ONCE = 8
MOST_PAGES_OF_A_DAY = 1_000
"""Most pages of a day that is read in pages: five million calls, or as many as its total promises."""

OnCertified = Callable[[date, date], steps.MoveCursor]


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
    """The observations that the windows of a sync share.

    `lies`: a total was wrong, so no page is read again for it. `failing`: single days on which the platform fails.
    `read_at`: the latest read time of calls; their details are read later, even if another clock is behind.
    """

    lies: bool = False
    failing: int = 0
    read_at: datetime = datetime(1, 1, 1, tzinfo=UTC)

    def doubt(self, day: date, error: Failing) -> str:
        """Return the reason why a day is not certified; raise `error` if too many days fail."""
        self.failing += 1
        if self.failing > MOST_FAILING:
            raise error
        return f"{day}: {error}"


@dataclass(frozen=True, slots=True)
class DaysPurpose:
    """The purpose of the read of days, which all of its parts share.

    `kind` is the kind in `control.windows`. `json` are the conventions of the JSON list, and `zone` is the
    practice's time zone. `stored` counts the stored calls of each day. An earlier sync read the days before
    `sealed_before` whole. `on_certified` moves the cursor behind each certified part.
    """

    kind: WindowKind
    json: QueryConventions
    zone: tzinfo
    shared: SharedDays
    stored: Mapping[date, int]
    sealed_before: date | None = None
    on_certified: OnCertified | None = None

    def known(self, start: date, end: date) -> int:
        """Return the number of stored calls of `[start, end)`."""
        return sum(count for day, count in self.stored.items() if start <= day < end)


def read_days(strategy: DateWindows, start: date, end: date, purpose: DaysPurpose) -> steps.Plan[str | None]:
    """Read the calls of `[start, end)` and replace its days; return the reason if they are not certified.

    Raise `ContractBroken` if the answer has calls of other days, so the date filter is not honoured.
    """
    try:
        page = yield from _settled_look(strategy, start, end, purpose)
    except NotFound as error:
        page = yield from _empty(start, end, purpose, error)
    except (RequestRefused, TooLarge, Failing) as error:
        if purpose.kind is WindowKind.TAIL or (end - start == DAY and not isinstance(error, Failing)):
            raise
        if isinstance(error, Failing):
            if end - start == DAY:
                return purpose.shared.doubt(start, error)
            yield from _look_at_a_day(strategy, start, end, purpose)
        return (yield from _in_halves(strategy, start, end, purpose))
    size = _size(strategy, page)
    if page.rows >= size and end - start > DAY:
        parts = _parts(start, end, page.total_count, size)
        doubts = yield from steps.do(steps.SideBySide([read_days(strategy, *part, purpose) for part in parts]))
        return next((doubt for doubt in doubts if doubt), None)
    if page.rows >= size:
        doubt = yield from _read_crowded(strategy, start, purpose, page)
    else:
        doubt = yield from _replace(start, end, purpose, [page])
    if doubt is None and purpose.on_certified is not None:
        yield purpose.on_certified(start, end)
    return doubt and f"{start} to {end - DAY}: {doubt}"


def _empty(start: date, end: date, purpose: DaysPurpose, error: NotFound) -> steps.Plan[CallsPage]:
    """Return an empty page if the JSON list has no calls either, or is answered without days only; else raise."""
    try:
        page = yield from steps.do(purpose.json.count(Window(start, end - DAY)))
    except NotFound:
        page = yield from steps.do(steps.ReadPage({}, 0, 1, lenient=True))
        page = replace(page, rows=(), total_count=0)
    if page.rows or page.total_count:
        raise error
    return CallsPage(None, 0, 0, None, page.server_time)


def _in_halves(strategy: DateWindows, start: date, end: date, purpose: DaysPurpose) -> steps.Plan[str | None]:
    """Read a span in halves: the server may limit its days, or its answer is too large, too slow or fails."""
    middle = start + (end - start).days // 2 * DAY
    earlier = yield from read_days(strategy, start, middle, purpose)
    later = yield from read_days(strategy, middle, end, purpose)
    return earlier or later


def _look_at_a_day(strategy: DateWindows, start: date, end: date, purpose: DaysPurpose) -> steps.Plan[None]:
    """Read the last day or the first one; raise `Failing` if the platform answers to nothing."""
    try:
        yield from _look(strategy, end - DAY, end, purpose, divisible=True)
    except Failing:
        yield from _look(strategy, start, start + DAY, purpose)


def _settled_look(strategy: DateWindows, start: date, end: date, purpose: DaysPurpose) -> steps.Plan[CallsPage]:
    """Read the first page, a second time if it has fewer calls than are stored or contradicts its total."""
    page = yield from _look(strategy, start, end, purpose)
    if page.total_count >= purpose.known(start, end) and not _contradicts(strategy, page):
        return page
    del page  # eight windows are read at a time, and each answer may have 8 MiB
    return (yield from _look(strategy, start, end, purpose))


def _look(
    strategy: DateWindows, start: date, end: date, purpose: DaysPurpose, *, divisible: bool = False
) -> steps.Plan[CallsPage]:
    """Read the first page; accept it if it contradicts its own total again and again."""
    size = strategy.csv_page_size
    query, divisible = calls_query(start, end, size=size), divisible or end - start > DAY
    step = steps.ReadCalls(query, 0, size, divisible=divisible, days=(start, end - DAY))
    if not purpose.shared.lies:
        try:
            return (yield from steps.do(step))
        except WrongTotal:
            purpose.shared.lies = True
    return (yield from steps.do(replace(step, lenient=True)))


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


def _replace(
    start: date, end: date, purpose: DaysPurpose, pages: Sequence[CallsPage], doubt: str | None = None
) -> steps.Plan[str | None]:
    """Replace days by the calls of one answer, or of several pages, which leave a doubt.

    If the total is wrong, the calls are stored only if the days have no stored calls yet.
    """
    last, rows = end - DAY, sum(page.rows for page in pages)
    if not all(_are_within(page, start, last) for page in pages):
        raise ContractBroken(
            f"phone_calls: asked for {start} to {last}, got calls of "
            f"{min(page.first_day for page in pages if page.first_day)} to "
            f"{max(page.last_day for page in pages if page.last_day)}: "
            "the server does not honour start_date and end_date"
        )
    evidence = _certificate(Window(start, last), purpose.kind, pages)
    purpose.shared.read_at = max(purpose.shared.read_at, evidence.finished)
    is_whole = {page.total_count for page in pages} == {rows}
    if not is_whole:
        pages_hold = "one page holds" if len(pages) == 1 else f"{len(pages)} pages hold"
        doubt = f"{pages_hold} {rows} calls, but the total is {pages[-1].total_count}"
    replaced = steps.ReplaceDays(
        [page.frame for page in pages if page.frame is not None],
        start,
        last,
        evidence.finished,
        purpose.sealed_before,
        certificate=uncertified(evidence, doubt) if doubt else evidence,
    )
    if is_whole:
        yield replaced
        return doubt
    return (yield from _save(replaced, purpose))


def _are_within(page: CallsPage, first: date, last: date) -> bool:
    """Return whether no call has another day. Calls without a readable day go to quarantine, and prove nothing."""
    return page.first_day is None or page.last_day is None or (first <= page.first_day and page.last_day <= last)


def _read_crowded(
    strategy: DateWindows, day: date, purpose: DaysPurpose, page: CallsPage
) -> steps.Plan[str | None]:
    """Read a day with more calls than a page, with the details of the JSON list in the same commit."""
    try:
        crowded = yield from read_crowded(purpose.json, Window(day, day), purpose.kind)
        if other := _other_times(page, crowded.rows, purpose.zone):
            crowded = replace(crowded, evidence=uncertified(crowded.evidence, other))
    except RequestRefused as refusal:
        pages = yield from _other_pages(strategy, day, page)
        doubt = f"its {len(pages)} pages prove nothing together, and the list by ids is refused: {refusal}"
        return (yield from _replace(day, day + DAY, purpose, pages, doubt))
    rows, evidence = crowded.rows, crowded.evidence
    replaced = steps.ReplaceDays(
        [], day, day, evidence.finished, purpose.sealed_before, rows=rows, certificate=evidence
    )
    of_details = replace(evidence, kind=WindowKind.DETAILS, requests=0)
    return (yield from _save(replaced, purpose, steps.AttachDetails(rows, day, day, certificate=of_details)))


def _other_times(page: CallsPage, rows: Sequence[Row], zone: tzinfo) -> str | None:
    """Return the reason why the calls of the list are not those of the CSV: a wrong zone shifts local times."""
    on_page = Counter(minute[:MINUTE] for minute in page.minutes)
    listed = Counter(
        at.astimezone(zone).isoformat(" ")[:MINUTE] for row in rows if (at := instant(row.get("created_at")))
    )
    missing = (on_page - listed).total()
    if missing <= (1 - ALIKE) * on_page.total():
        return None
    place = f"in the JSON list at their minute in {zone}: is the time zone right?"
    return f"{missing} of {on_page.total()} calls on its CSV page are not {place}"


def _other_pages(strategy: DateWindows, day: date, first: CallsPage) -> steps.Plan[Sequence[CallsPage]]:
    """Read all pages of a day up to an empty one, because calls without a proof are better than no calls."""
    size = strategy.csv_page_size
    pages = [first]
    most = min(MOST_PAGES_OF_A_DAY, -(-first.total_count // _size(strategy, first)))
    while len(pages) < most and pages[-1].rows:
        requests = [
            steps.ReadCalls(
                calls_query(day, day + DAY, size=size, page=number), number, size, lenient=True, days=(day, day)
            )
            for number in range(len(pages), min(most, len(pages) + PAGES_AT_ONCE))
        ]
        pages += yield from steps.do(steps.SideBySide([steps.do(request) for request in requests]))
    return pages


def _save(replaced: steps.ReplaceDays, purpose: DaysPurpose, *more: steps.Save) -> steps.Plan[str | None]:
    """Replace days; if the read is not certified and some calls are stored, the stored calls stay."""
    evidence = replaced.certificate
    assert evidence is not None
    if not evidence.certified and purpose.known(replaced.first_day, replaced.last_day + DAY):
        yield steps.MergeRows((), replaced.read_at, certificate=evidence)
        return evidence.reason
    yield replaced
    yield from more
    return None if evidence.certified else evidence.reason


def _certificate(window: Window, kind: WindowKind, pages: Sequence[CallsPage]) -> Certificate:
    return Certificate(
        window=window,
        kind=kind,
        total_first=pages[0].total_count,
        total_last=pages[-1].total_count,
        rows=sum(page.rows for page in pages),
        distinct_ids=None,
        requests=sum(page.requests for page in pages),
        retries=0,
        certified=True,
        reason="one page is one snapshot",
        started=pages[0].server_time,
        finished=max(page.server_time for page in pages),
    )
