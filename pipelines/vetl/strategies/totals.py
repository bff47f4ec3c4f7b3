"""Compare the source's totals by status with those of the stored rows.

A list without a status may hide rows: the contract does not show which statuses it has then. If a status has more
rows than are stored after a whole read, the list is read by each status.

Another name of the status filter is examined only if the name in use has no proven effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vetl.core.errors import RequestRefused
from vetl.core.list_read import Reading, Result
from vetl.core.pages import Window
from vetl.core.steps import Flush, MergeRows, Plan, StatusCounts, do
from vetl.discovery.examination import find_status
from vetl.reading.conventions import QueryConventions
from vetl.reading.paging import united_ids
from vetl.reading.whole_list import WholeList, mark_missing, mark_vanished, read_by_status, union_evidence


@dataclass(frozen=True, slots=True)
class Counts:
    """The totals by status at the source (`there`) and of the stored rows (`here`)."""

    there: Mapping[str, int]
    here: Mapping[str, int]
    requests: int

    @property
    def agree(self) -> bool:
        """Return whether every status has as many stored rows as rows at the source."""
        return all(self.here.get(status, 0) == count for status, count in self.there.items())

    @property
    def status_is_ignored(self) -> bool:
        """Return whether the total of every status is the total of the whole list."""
        return len(self.there) > 1 and set(self.there.values()) == {sum(self.here.values())}

    @property
    def hides(self) -> bool:
        """Return whether a status has more rows at the source than are stored, and the filter works."""
        works = not self.status_is_ignored and min(self.there.values(), default=0) >= 0
        return works and any(count > self.here.get(status, 0) for status, count in self.there.items())


def counts_agree(conventions: QueryConventions, statuses: Sequence[str]) -> Plan[Counts]:
    """Compare the totals by status, read in this order, with the stored rows.

    If the server refuses the status filter, the totals do not agree.
    """
    there: dict[str, int] = {}
    requests = 0
    for status in statuses:
        try:
            page = yield from do(conventions.count(Window(status=status)))
        except RequestRefused:
            return Counts({status: -1}, {}, requests + 1)
        there[status] = page.total_count
        requests += page.requests
    here = yield from do(StatusCounts())
    return Counts(there, here, requests)


def compare_totals(reading: Reading, conventions: QueryConventions, statuses: Sequence[str]) -> Plan[Counts]:
    """Compare the totals by status with the stored rows; look for the filter's name if they do not agree."""
    counts = yield from counts_agree(conventions, statuses)
    if counts.agree or conventions.status is not Result.UNDECIDED:
        return counts
    conventions = yield from find_status(reading, conventions)
    return (yield from counts_agree(conventions, statuses)) if conventions.status is Result.HONOURED else counts


def complete(
    reading: Reading, conventions: QueryConventions, statuses: Sequence[str], whole: WholeList
) -> Plan[WholeList]:
    """Return the read of a whole list, or a read by each status if the list hides rows; mark vanished rows."""
    yield Flush()
    if not whole.certified or conventions.status is Result.IGNORED:
        yield from mark_vanished(conventions, whole)
        return whole
    counts = yield from compare_totals(reading, conventions, statuses)
    # Hidden rows that an earlier sync stored must not count as deleted.
    more = min(counts.there.values(), default=0) >= 0 and sum(counts.there.values()) > whole.last.total
    hides = counts.hides or (more and not counts.status_is_ignored)
    if hides:
        conventions = yield from find_status(reading, conventions)
    is_proven = conventions.status is Result.HONOURED or whole.last.total < max(counts.there.values(), default=0)
    if not hides or conventions.status is Result.IGNORED or not is_proven:
        yield from mark_vanished(conventions, whole)
        return whole
    by_status = yield from read_by_status(conventions, statuses)
    if united_ids(by_status.passes) <= united_ids(whole.passes):
        # No row was hidden: the filter of a list of one or two rows may have been believed wrongly.
        yield from mark_vanished(conventions, whole)
        return whole
    yield from mark_missing(by_status, lambda: read_by_status(conventions, statuses))
    counts = yield from counts_agree(conventions, statuses)
    if by_status.certified and not counts.agree:
        reason = "the totals by status do not match the rows of each status"
        by_status = replace(by_status, certified=False, reason=reason)
    evidence = union_evidence(by_status)
    yield MergeRows((), by_status.last.read_at, certificate=evidence)
    return by_status
