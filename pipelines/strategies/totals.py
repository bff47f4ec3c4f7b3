"""The totals by status, under a name of the filter that is looked for only where the one in use tells nothing."""

from collections.abc import Sequence

from pipelines.core.capabilities import Result
from pipelines.core.reading import Reading
from pipelines.core.steps import Plan
from pipelines.discovery.examination import find_status
from pipelines.reading.conventions import QueryConventions
from pipelines.reading.status_counts import Counts, counts_agree


def compare_totals(reading: Reading, conventions: QueryConventions, statuses: Sequence[str]) -> Plan[Counts]:
    """Compare the totals by status with what is here: where they agree, the filter works, known or not."""
    counts = yield from counts_agree(conventions, statuses)
    if counts.agree or conventions.status is not Result.UNDECIDED:
        return counts
    found = yield from find_status(reading, conventions)
    return (yield from counts_agree(found, statuses)) if found.status is Result.HONOURED else counts
