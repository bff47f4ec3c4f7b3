"""Read clients and patients by the ids that other rows mention, because no list contains all of them.

Contract (Clients and patients): the client list requires a search term and ends at 100 rows, and the patient list
requires a client.

Requests of a sync: one for each id that is not stored or is older than the refresh age, and a second one if the
source does not have the id; at most the budget. Without such ids there is none.
"""

from datetime import timedelta

from vetl.core.endpoint import ByReference
from vetl.core.list_read import Outcome, Reading
from vetl.core.steps import Flush, Plan, ReferencedIds, do
from vetl.reading.by_id import get_by_id, strangers_line

AT_ONCE = 500
LOOKS = 2
"""Requests for an id before it counts as missing at the source."""


def read(reading: Reading, _strategy: ByReference) -> Plan[Outcome]:
    """Get ids that are mentioned but not stored, then stale ones, within the budget of one sync.

    In a full reconcile every stored id is stale. The ids that were read longest ago come first, so that the next
    reconcile reads those that the budget leaves out.
    """
    margins = reading.margins
    stale_before = reading.now - (timedelta() if reading.reconcile == "full" else margins.refresh_after)
    left = margins.reference_budget
    ids = yield from do(ReferencedIds(stale_before, left + 1))
    requested = 0
    strangers: list[str] = []
    while batch := ids[requested : requested + min(AT_ONCE, left // LOOKS)]:
        got = yield from get_by_id(batch, reading.now, looks=LOOKS)
        yield Flush()
        requested += len(batch)
        left -= got.requests
        strangers += got.strangers
    notes: tuple[str, ...] = ()
    if len(ids) > requested:
        spent = f"the budget of {margins.reference_budget} requests is used up"
        notes = (f"{reading.endpoint.name}: {spent}, the next sync goes on",)
    if strangers:
        return Outcome(False, None, strangers_line(reading.endpoint.name, strangers, requested), notes)
    if notes:
        return Outcome(True, None, "part of the ids that other rows mention", notes)
    return Outcome(True, reading.now, "every id that other rows mention")
