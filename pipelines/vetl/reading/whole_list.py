"""Read a whole list that cannot be divided into windows, and find the rows that have vanished from it.

Its proof is also compared with the source's totals by status. A list without a status may hide rows: the contract
does not show which statuses it has then. If a status has more rows than are stored after a whole read, the list is
read by each status.

Another name of the status filter is examined only if the name in use has no proven effect.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from vetl.core.errors import RequestRefused
from vetl.core.list_read import Reading, Result
from vetl.core.pages import Certificate, Page, Window, WindowKind
from vetl.core.steps import Flush, IdsHere, MergeRows, MissingRecords, Plan, StatusCounts, do
from vetl.discovery.conventions import QueryConventions
from vetl.discovery.discover import find_status
from vetl.reading.certified import RE_READS_OF_A_LIE, UNITED_PASSES, are_unmoved
from vetl.reading.paging import Pass, certificate, read_pass, read_total, uncertified, united_ids

WHOLE = Window()
PAGES_OF_A_MOVING_LIST = 20
WITHOUT_STATUS = "without a status"
"""The status in the certificate of a list that has rows of some statuses only."""
BY_STATUS = "the list of each status; without a status the server hides rows"


@dataclass(frozen=True, slots=True)
class WholeList:
    """The result of the read of a whole list: all its passes, and whether they prove it whole."""

    passes: Sequence[Pass]
    certified: bool
    reason: str

    @property
    def last(self) -> Pass:
        """Return the latest pass."""
        return self.passes[-1]


def read_whole_list(
    conventions: QueryConventions,
    requested: Window = WHOLE,
    *,
    claimed: Window = WHOLE,
    sealed_before: datetime | None = None,
) -> Plan[WholeList]:
    """Read an unsplittable list until a pass, or several united under one total, prove it whole.

    The requests are for the window `requested`; the certificate is for the window `claimed`.

    The read costs at most as many pages as 20 passes over the list as it was at first, and one pass more, because
    a list that grows makes each pass longer than the pass before it. If the total changes, passes cannot be
    united, and the read costs at most twice the list and 20 pages.
    """
    conventions = replace(conventions, saves=True, sealed_before=sealed_before)
    passes: list[Pass] = []
    while not passes or sum(len(done.pages) for done in passes) < _most_pages(passes):
        done = replace((yield from read_pass(conventions, requested)), window=claimed)
        passes.append(done)
        if done.whole:
            evidence = certificate(done, WindowKind.WHOLE, retries=len(passes) - 1)
            yield MergeRows(done.rows, done.read_at, sealed_before, certificate=evidence)
            return WholeList(passes, True, f"the whole list: {done.finding}")
        yield MergeRows(done.rows, done.read_at, sealed_before)
        if count := _united_passes(passes):
            reason = f"the ids of {count} passes together match an unchanged total"
            evidence = replace(certificate(done, WindowKind.WHOLE, reason=reason), started=passes[-count].started)
            yield MergeRows((), done.read_at, certificate=evidence)
            return WholeList(passes, True, reason)
        if done.unread or (done.lie and len(passes) > RE_READS_OF_A_LIE):
            break
        conventions = replace(conventions, lenient=bool(done.lie))
    last = passes[-1]
    reason = last.unread or f"{last.finding}, in {len(passes)} passes"
    evidence = uncertified(certificate(last, WindowKind.WHOLE, retries=len(passes) - 1), reason)
    yield MergeRows((), last.read_at, certificate=evidence)
    return WholeList(passes, False, reason)


def _most_pages(passes: Sequence[Pass]) -> int:
    once = len(passes[0].pages)
    return UNITED_PASSES * once if are_unmoved(passes) else 2 * once + PAGES_OF_A_MOVING_LIST


def _united_passes(passes: Sequence[Pass]) -> int:
    """Return the least number of latest passes whose distinct ids match their one unchanged total, or 0."""
    total = passes[-1].total
    for count in range(2, len(passes) + 1):
        latest = passes[-count:]
        if not all(done.steady and not done.lie and done.total == total for done in latest):
            return 0
        if len(united_ids(latest)) == total:
            return count
    return 0


def read_by_status(
    conventions: QueryConventions,
    statuses: Sequence[str],
    requested: Window = WHOLE,
    *,
    claimed: Window = WHOLE,
    plain: WholeList | None = None,
) -> Plan[WholeList]:
    """Read the list without a status, unless it is `plain`, then the whole list of each status in turn.

    Only the list without one has the rows of a status that the contract does not show. The windows are those of
    `read_whole_list`.

    A row that changes its status meanwhile may come twice, or not at all if its new status was read before.
    """
    if plain is None:
        plain = yield from read_whole_list(conventions, requested, claimed=replace(claimed, status=WITHOUT_STATUS))
    passes = [*plain.passes]
    doubts = [] if plain.certified else [plain.reason]
    for status in statuses:
        of_status = replace(requested, status=status)
        whole = yield from read_whole_list(conventions, of_status, claimed=replace(claimed, status=status))
        passes += whole.passes
        doubts += [] if whole.certified else [f"{status}: {whole.reason}"]
    return WholeList(passes, not doubts, doubts[0] if doubts else BY_STATUS)


def union_evidence(whole: WholeList, window: Window = WHOLE) -> Certificate:
    """Return the certificate of a list that was read by each status."""
    ids = united_ids(whole.passes)
    by_status = [done for done in whole.passes if done.window.status not in (None, WITHOUT_STATUS)]
    totals = {done.window.status: done.total for done in by_status}  # of the last pass of each status
    total = sum(totals.values()) + len(ids - united_ids(by_status))
    evidence = replace(
        certificate(whole.last, WindowKind.WHOLE, reason=whole.reason),
        window=window,
        total_first=total,
        total_last=total,
        rows=len(ids),
        distinct_ids=len(ids),
        started=whole.passes[0].started,
    )
    return evidence if whole.certified else uncertified(evidence, whole.reason)


def mark_missing(
    whole: WholeList, read_again: Callable[[], Plan[WholeList]], among: IdsHere | None = None
) -> Plan[None]:
    """Mark stored rows (`among` them) as deleted if a certified read and a second one do not contain them."""
    yield Flush()
    if not whole.certified:
        return
    here = yield from do(among or IdsHere())
    gone = _without(here, whole)
    if gone:
        again = yield from read_again()
        gone = _without(gone, again)
        if gone and again.certified:
            yield MissingRecords(sorted(gone), again.last.read_at)
        yield Flush()


def _without(ids: Iterable[str], whole: WholeList) -> set[str]:
    """Return the ids that no pass has."""
    keys = united_ids(whole.passes)
    return {identity for identity in ids if identity not in keys}


@dataclass(frozen=True, slots=True)
class Counts:
    """The totals by status at the source (`there`) and of the stored rows (`here`).

    `filtered`: the rows in the answers have the requested statuses.
    """

    there: Mapping[str, int]
    here: Mapping[str, int]
    requests: int
    filtered: bool = False

    @property
    def agree(self) -> bool:
        """Return whether every status has as many stored rows as rows at the source."""
        return all(self.here.get(status, 0) == count for status, count in self.there.items())

    @property
    def status_is_ignored(self) -> bool:
        """Return whether the total of every status is the total of the whole list, and no row shows a filter."""
        alike = len(self.there) > 1 and set(self.there.values()) == {sum(self.here.values())}
        return alike and not self.filtered

    @property
    def hides(self) -> bool:
        """Return whether a status has more rows at the source than are stored, and the filter works."""
        works = not self.status_is_ignored and min(self.there.values(), default=0) >= 0
        return works and any(count > self.here.get(status, 0) for status, count in self.there.items())


def counts_agree(conventions: QueryConventions, statuses: Sequence[str]) -> Plan[Counts]:
    """Compare the totals by status, read in this order, with the stored rows.

    If the server refuses the status filter, the totals do not agree.
    """
    pages: dict[str, Page] = {}
    for status in statuses:
        try:
            pages[status] = yield from read_total(conventions, Window(status=status))
        except RequestRefused:
            return Counts({status: -1}, {}, sum(page.requests for page in pages.values()) + 1)
    here = yield from do(StatusCounts())
    there = {status: page.total_count for status, page in pages.items()}
    return Counts(there, here, sum(page.requests for page in pages.values()), are_filtered(pages))


def are_filtered(pages: Mapping[str, Page]) -> bool:
    """Return whether there are rows in the pages by status, and all have the status of their page."""
    rows = [(status, row) for status, page in pages.items() for row in page.rows]
    return bool(rows) and all(row.get("status") == status for status, row in rows)


def compare_totals(reading: Reading, conventions: QueryConventions, statuses: Sequence[str]) -> Plan[Counts]:
    """Compare the totals by status with the stored rows; look for the filter's name if they do not agree."""
    counts = yield from counts_agree(conventions, statuses)
    if counts.agree or conventions.status is not Result.UNDECIDED:
        return counts
    conventions = yield from find_status(reading, conventions)
    return (yield from counts_agree(conventions, statuses)) if conventions.status is Result.HONOURED else counts


def complete(
    reading: Reading,
    conventions: QueryConventions,
    statuses: Sequence[str],
    whole: WholeList,
    *,
    again: bool = False,
) -> Plan[WholeList]:
    """Return the read of a whole list, or a read by each status if the list hides rows; mark vanished rows.

    If the totals of a list that seems to hide rows do not match these, it is read once more (`again`).
    """
    yield Flush()
    if not whole.certified or conventions.status is Result.IGNORED:
        yield from mark_missing(whole, lambda: read_whole_list(conventions))
        return whole
    counts = yield from compare_totals(reading, conventions, statuses)
    # Hidden rows that an earlier sync stored must not count as deleted.
    others = sum(count for status, count in counts.here.items() if status not in counts.there)
    more = min(counts.there.values(), default=0) >= 0 and sum(counts.there.values()) + others > whole.last.total
    hides = counts.hides or (more and not counts.status_is_ignored)
    if hides:
        conventions = yield from find_status(reading, conventions)
    is_proven = conventions.status is Result.HONOURED or whole.last.total < max(counts.there.values(), default=0)
    if not hides or conventions.status is Result.IGNORED or not is_proven:
        yield from mark_missing(whole, lambda: read_whole_list(conventions))
        return whole
    by_status = yield from read_by_status(conventions, statuses, plain=whole)
    if united_ids(by_status.passes) <= united_ids(whole.passes):
        # No row was hidden: the filter of a list of one or two rows may have been believed wrongly.
        yield from mark_missing(whole, lambda: read_whole_list(conventions))
        return whole
    yield from mark_missing(by_status, lambda: read_by_status(conventions, statuses))
    counts = yield from counts_agree(conventions, statuses)
    if by_status.certified and not counts.agree and not again:  # rows may have come meanwhile
        whole = yield from read_whole_list(conventions)
        return (yield from complete(reading, conventions, statuses, whole, again=True))
    if by_status.certified and not counts.agree:
        reason = "the totals by status do not match the rows of each status"
        by_status = replace(by_status, certified=False, reason=reason)
    evidence = union_evidence(by_status)
    yield MergeRows((), by_status.last.read_at, certificate=evidence)
    return by_status
