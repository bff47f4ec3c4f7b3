"""Compare the source's totals by status with those of the stored rows.

Another name of the status filter is examined only if the name in use has no proven effect.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipelines.core.capabilities import Result
from pipelines.core.errors import RequestRefused
from pipelines.core.list_read import Reading
from pipelines.core.pages import Window
from pipelines.core.steps import Plan, StatusCounts, do
from pipelines.discovery.examination import find_status
from pipelines.reading.conventions import QueryConventions


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
