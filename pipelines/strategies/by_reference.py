"""Clients and patients: no list gives them all, so they are got by the ids that other rows mention.

Contract, Clients and patients: the client list wants a search term and ends at 100, the patient list wants a
client. An id that is unknown here, or was read longer ago than the refresh age, costs one request.
"""

from collections.abc import Generator
from typing import Any

from pipelines.endpoint import ByReference
from pipelines.steps import Flush, ReferencedIds, Step
from pipelines.strategies.reading import Outcome, Reading
from pipelines.strategies.records import get_by_id

AT_ONCE = 500


def plan(reading: Reading, _strategy: ByReference) -> Generator[Step, Any, Outcome]:
    """Get what is mentioned and unknown, then what is stale, within the budget of one sync."""
    margins = reading.margins
    ids: list[str] = yield ReferencedIds(reading.now - margins.refresh_after, margins.reference_budget + 1)
    wanted = ids[: margins.reference_budget]
    for start in range(0, len(wanted), AT_ONCE):
        yield from get_by_id(wanted[start : start + AT_ONCE], reading.now)
        yield Flush()
    if len(ids) > len(wanted):
        spent = f"the budget of {margins.reference_budget} requests is used up"
        note = f"{reading.endpoint.name}: {spent}, the next sync goes on"
        return Outcome(True, None, "part of the ids that other rows mention", (note,))
    return Outcome(True, reading.now, "every id that other rows mention")
