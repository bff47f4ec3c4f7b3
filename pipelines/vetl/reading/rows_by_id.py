"""Get rows by id: clients and patients, and rows of other lists that a read of the list does not show.

Clients and patients are got by the ids that other rows mention, as no list has all of them.

Contract (Clients and patients): the client list requires a search term and ends at 100 rows, and the patient list
requires a client.

Requests of a sync: one for each id that is not stored or is older than the refresh age, and a second one if the
source does not have the id, for at most as many ids as the budget. Without such ids there is none. If an answer is
withheld or has another id: one or two more for it, and three. If an id cannot be read: three.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from vetl.core import steps
from vetl.core.endpoint import ByReference
from vetl.core.errors import VetlError, Withheld
from vetl.core.list_read import Outcome, Reading
from vetl.core.pages import Row

ENOUGH = 3
"""Ids of which one must be found before others count as missing."""


def get_by_id(
    name: str, ids: Sequence[str], read_at: datetime, *, unlisted: bool = False
) -> steps.Plan[list[str]]:
    """Get rows by id and merge them; store the ids that the source does not have as missing.

    Return lines about doubts. A row without the requested id is not stored. A platform that does not offer the
    request, or not to this account, may answer it with 404, as for an unknown id (the contract does not show
    these statuses): so ids count as missing only if another one is found, or if a certified read of the list
    lacks them, too (`unlisted`). An id whose answer is withheld, or twice has the same other id (with which the
    platform merged it), counts as missing only if another one is found after it, because the platform may fail.
    If an id cannot be read (403, 5xx) while another one is found after it, it alone is in doubt. Raise `VetlError`
    if none is found, or if the ids are `unlisted`; all other rows are stored.
    """
    answers = yield from steps.do(steps.GetRecords(ids))
    first = _of_other_ids(answers)
    if first:  # two answers may have been mixed up on their way
        answers = {**answers, **(yield from steps.do(steps.GetRecords(list(first))))}
    others = _of_other_ids(answers)
    rows = _of_own_ids(answers)
    yield steps.MergeRows(list(rows.values()), read_at)
    missing = [key for key, row in answers.items() if row is None]
    odd = [key for key, row in answers.items() if isinstance(row, Withheld)]
    odd += [key for key, now in others.items() if now and now == first.get(key)]
    failed = [key for key, row in answers.items() if isinstance(row, VetlError) and key not in odd]
    is_answered = yield from _is_answered(missing, [*odd, *failed], list(rows), unlisted=unlisted)
    gone = [*missing, *odd] if is_answered else []
    if gone:
        yield steps.MissingRecords(gone, read_at)
    doubts: list[str] = []
    unread = [row for key, row in answers.items() if isinstance(row, VetlError) and key not in gone]
    if unread:
        unasked = [key for key in ids if key not in answers]
        goes_on = is_answered and not unlisted
        count = len(unread) + (0 if goes_on else len(unasked))
        unread[0].add_note(f"; {count} of {len(ids)} ids could not be read, the others are stored")
        if not goes_on:
            yield steps.Flush()
            raise unread[0]
        doubts = [f"{name}: {unread[0]}", *((yield from get_by_id(name, unasked, read_at)) if unasked else ())]
    strangers = len(others.keys() - set(gone))
    if strangers:
        doubts.append(f"{name}: {strangers} of {len(ids)} rows came back without the id that was requested")
    if missing and not gone:
        doubts.append(f"{name}: no row is found by its id ({len(missing)} requested); may this account read them?")
    return doubts


Answers = Mapping[str, Row | VetlError | None]


def _of_own_ids(answers: Answers) -> dict[str, Row]:
    """Return the rows that have the id that was requested."""
    return {key: row for key, row in answers.items() if isinstance(row, Mapping) and str(row.get("id")) == key}


def _of_other_ids(answers: Answers) -> dict[str, object]:
    """Return the ids whose row has another id, each with that other id."""
    own = _of_own_ids(answers)
    return {key: row.get("id") for key, row in answers.items() if isinstance(row, Mapping) and key not in own}


def _is_answered(
    missing: Sequence[str], odd: Sequence[str], found: Sequence[str], *, unlisted: bool
) -> steps.Plan[bool]:
    """Return whether the platform answers to ids, by the rules of `get_by_id`, so that `missing` ids are missing.

    `odd`: ids that were not found in another way than by an answer for unknown ids.
    """
    if not odd and (unlisted or found or not missing):
        return True
    here = found or (yield from steps.do(steps.IdsHere()))
    others = sorted(set(here).difference(missing, odd))[-ENOUGH:]
    if not others:
        return not odd and len(missing) < ENOUGH
    answers = yield from steps.do(steps.GetRecords(others))
    return bool(_of_own_ids(answers))


IDS_AT_ONCE = 500


def read_by_reference(reading: Reading, _strategy: ByReference) -> steps.Plan[Outcome]:
    """Get ids that are mentioned but not stored, then stale ones, within the budget of one sync.

    In a full reconcile every stored id is stale. The ids that were read longest ago come first, so that the next
    reconcile reads those that the budget leaves out.
    """
    margins = reading.margins
    every_id = datetime.max.replace(tzinfo=UTC)
    stale_before = every_id if reading.reconcile == "full" else reading.now - margins.refresh_after
    budget = margins.reference_budget
    ids = yield from steps.do(steps.ReferencedIds(stale_before, budget + 1))
    doubts: list[str] = []
    for begin in range(0, min(budget, len(ids)), IDS_AT_ONCE):
        some = ids[begin : min(budget, begin + IDS_AT_ONCE)]
        doubts += yield from get_by_id(reading.endpoint.name, some, reading.now)
        yield steps.Flush()
    notes: tuple[str, ...] = ()
    if len(ids) > budget:
        notes = (f"{reading.endpoint.name}: the budget of {budget} ids is used up, the next sync goes on",)
    if doubts:
        return Outcome(False, None, doubts[0], notes)
    if notes:
        return Outcome(True, None, "part of the ids that other rows mention", notes)
    return Outcome(True, reading.now, "every id that other rows mention")
