"""Get rows by their ids: clients and patients by those that other rows mention, as no list has all of them.

Contract (Clients and patients): the client list requires a search term and ends at 100 rows, and the patient list
requires a client.

Requests of a sync: one for each id that is not stored or is older than the refresh age, and a second one if the
source does not have the id; at most the budget. Without such ids there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vetl.core.endpoint import ByReference
from vetl.core.errors import VetlError
from vetl.core.list_read import Outcome, Reading
from vetl.core.pages import Row
from vetl.core.steps import Flush, GetRecords, MergeRows, MissingRecords, Plan, ReferencedIds, do


@dataclass(frozen=True, slots=True)
class Got:
    """The result of requests by id; `strangers` are ids whose answer was a row with another id, not stored."""

    strangers: Sequence[str] = ()
    requests: int = 0


def get_by_id(ids: Sequence[str], read_at: datetime, *, looks: int = 1) -> Plan[Got]:
    """Get rows by id and merge them; store an id as missing if the source lacks it in `looks` requests.

    Raise `VetlError` if a few ids could not be read; all other rows are stored.
    """
    answers = yield from do(GetRecords(ids))
    requests = len(answers)
    for _ in range(looks - 1):
        again = [identity for identity, row in answers.items() if row is None]
        certain = {identity: row for identity, row in answers.items() if row is not None}
        answers = {**certain, **(yield from do(GetRecords(again)))}
        requests += len(again)
    failed = [row for row in answers.values() if isinstance(row, VetlError)]
    rows = {identity: row for identity, row in answers.items() if isinstance(row, Mapping)}
    strangers = [identity for identity, row in rows.items() if _is_another(row, identity)]
    yield MergeRows([row for identity, row in rows.items() if identity not in strangers], read_at)
    missing = [identity for identity, row in answers.items() if row is None]
    if missing:
        yield MissingRecords(missing, read_at)
    if failed:
        yield Flush()
        unread = len(ids) - len(rows) - len(missing)
        failed[0].add_note(f"; {unread} of {len(ids)} ids could not be read, the others are stored")
        raise failed[0]
    return Got(strangers, requests)


def _is_another(row: Row, identity: str) -> bool:
    """Return whether a row has another id. A row without an id goes on to its model, which quarantines it."""
    return row.get("id") is not None and str(row["id"]) != identity


def strangers_line(name: str, strangers: Sequence[str], requested: int) -> str:
    """Return the line about ids whose answers were rows with other ids."""
    return f"{name}: {len(strangers)} of {requested} rows came back under another id than the requested one"


IDS_AT_ONCE = 500
LOOKS = 2
"""Requests for an id before it counts as missing at the source."""


def read_by_reference(reading: Reading, _strategy: ByReference) -> Plan[Outcome]:
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
    while batch := ids[requested : requested + min(IDS_AT_ONCE, left // LOOKS)]:
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
