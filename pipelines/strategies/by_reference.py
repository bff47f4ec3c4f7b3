"""Clients and patients: no list gives them all, so they are got by the ids that other rows mention.

Contract, Clients and patients: the client list wants a search term and ends at 100, the patient list wants a
client. An id that is unknown here, or was read longer ago than the refresh age, costs one request; two where the
source does not have it. Requests of a sync: one for each such id and one more for each that is not there, at most
the budget; without such ids none.
"""

from datetime import timedelta

from pipelines.core.endpoint import ByReference
from pipelines.core.list_read import Outcome, Reading
from pipelines.core.steps import Flush, Plan, ReferencedIds, do
from pipelines.reading.by_id import get_by_id, strange

AT_ONCE = 500
LOOKS = 2
"""An id that the source does not know is asked for once more before that is believed."""


def plan(reading: Reading, _strategy: ByReference) -> Plan[Outcome]:
    """Get what is mentioned and unknown, then what is stale, within the budget of one sync.

    A full reconcile takes every known id for stale: those that were read longest ago come first, so that what a
    budget leaves out is read by the next one.
    """
    margins = reading.margins
    stale_before = reading.now - (timedelta() if reading.reconcile == "full" else margins.refresh_after)
    left = margins.reference_budget
    ids = yield from do(ReferencedIds(stale_before, left + 1))
    asked = 0
    strangers: list[str] = []
    while batch := ids[asked : asked + min(AT_ONCE, left // LOOKS)]:
        got = yield from get_by_id(batch, reading.now, looks=LOOKS)
        yield Flush()
        asked += len(batch)
        left -= got.requests
        strangers += got.strangers
    notes: tuple[str, ...] = ()
    if len(ids) > asked:
        spent = f"the budget of {margins.reference_budget} requests is used up"
        notes = (f"{reading.endpoint.name}: {spent}, the next sync goes on",)
    if strangers:
        return Outcome(False, None, strange(reading.endpoint.name, strangers, asked), notes)
    if notes:
        return Outcome(True, None, "part of the ids that other rows mention", notes)
    return Outcome(True, reading.now, "every id that other rows mention")
