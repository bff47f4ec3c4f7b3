"""All staff tasks of a practice: reading them, recognising acts, and the proof that a task is not there. Pure.

Contract, Staff tasks, List: whether a list without `status` shows every status is not shown. So a read counts as
whole only if its rows have final statuses, or if the totals by status add up to its total, or if each status was
read by itself; pending is then read twice, because a task may be reopened between two reads.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from vetl.addons.act.acts import OPEN, UNASKED, ActState, LedgerEntry, codes_in, codes_of
from vetl.core.errors import RequestRefused
from vetl.core.list_read import Reading, Result
from vetl.core.pages import Row, Window, instant, key_of
from vetl.core.steps import Flush, Plan, do
from vetl.discovery import identity
from vetl.discovery.conventions import QueryConventions, conventions_of
from vetl.discovery.discover import discover, find_status
from vetl.reading.whole_list import WholeList, read_whole_list

_LOOKED_FOR = OPEN | UNASKED | {ActState.REFUSED}
"""A platform may have made a task that it refused: the answer was of a proxy, or came after the commit."""


@dataclass(frozen=True, slots=True)
class SeenTask:
    """A staff task as a read or an answer shows it. `digest` covers all that a person may change."""

    id: str
    status: str | None
    codes: tuple[str, ...]
    reference_time_at: datetime | None
    digest: str
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TasksRead:
    """All tasks of a practice, in every status, as far as `certified` says. `started`: the platform's clock."""

    practice_id: str
    certified: bool
    reason: str
    started: datetime
    tasks: tuple[SeenTask, ...]


@dataclass(frozen=True, slots=True)
class Sighting:
    """The task of an act, and whether its code or its reference time shows that."""

    code: str
    task: SeenTask
    found_by: str


@dataclass(frozen=True, slots=True)
class Sightings:
    """The result of comparing a read with the ledger.

    `found`: tasks of acts that were open, refused or not asked for. `strangers`: codes that the ledger does not
    know. `absent`: open acts that are proven not to be there. `twice`: codes of several tasks that are not
    canceled, with their number.
    """

    found: tuple[Sighting, ...]
    strangers: tuple[Sighting, ...]
    absent: tuple[str, ...]
    twice: tuple[tuple[str, int], ...]


def compare(entries: Sequence[LedgerEntry], read: TasksRead, settle: timedelta) -> Sightings:
    """Return which acts of the practice a read shows, and which it proves not to be there.

    A task counts for an act by any code of its contacts, or by its reference time if it has no code and belongs to
    no other act. An open act is absent if a certified read began `settle` or more after the last moment at which
    its request can have left, unless the platform shows vetl's own tasks without their marks.
    """
    own = [entry for entry in entries if entry.act.practice_id == read.practice_id]
    by_code: dict[str, list[SeenTask]] = {}
    for task in read.tasks:
        for code in dict.fromkeys(task.codes):
            by_code.setdefault(code, []).append(task)
    taken = {entry.task_id for entry in own}
    proves = read.certified and not _marks_are_lost(own, read.tasks)
    found: list[Sighting] = []
    absent: list[str] = []
    known: set[str] = set()
    for entry in own:
        codes = _codes(entry)
        known |= codes
        if entry.state not in _LOOKED_FOR:
            continue
        sighting = _by_code(entry, codes, by_code) or _by_reference(entry, read.tasks, taken)
        if sighting:
            taken.add(sighting.task.id)
            found.append(sighting)
        elif entry.state is ActState.UNKNOWN and proves and entry.since and read.started >= entry.since + settle:
            absent.append(entry.act.code)
    strangers = [Sighting(code, tasks[0], "code") for code, tasks in by_code.items() if code not in known]
    living = {code: {task.id for task in tasks if task.status != "canceled"} for code, tasks in by_code.items()}
    twice = [(code, len(ids)) for code, ids in sorted(living.items()) if len(ids) > 1]
    return Sightings(tuple(found), tuple(strangers), tuple(absent), tuple(twice))


def _codes(entry: LedgerEntry) -> set[str]:
    act = entry.act
    return {act.code, *codes_of(act.practice_id, act.kind, act.contacts)}


def _by_code(entry: LedgerEntry, codes: set[str], by_code: dict[str, list[SeenTask]]) -> Sighting | None:
    tasks = [task for code in (entry.act.code, *sorted(codes)) for task in by_code.get(code, ())]
    return Sighting(entry.act.code, tasks[0], "code") if tasks else None


def _by_reference(entry: LedgerEntry, tasks: Sequence[SeenTask], taken: set[str | None]) -> Sighting | None:
    """Find the task of an act by its time alone, as a person may have edited the words.

    An act that was not asked for is found too, because the ledger may have been lost. A holdout has no such time.
    """
    if entry.state is ActState.HOLDOUT:
        return None
    wanted = entry.act.reference_time_at
    for task in tasks:
        at = task.reference_time_at
        if at and at.replace(microsecond=0) == wanted and not task.codes and task.id not in taken:
            return Sighting(entry.act.code, task, "reference")
    return None


def _marks_are_lost(own: Sequence[LedgerEntry], tasks: Sequence[SeenTask]) -> bool:
    """Return whether tasks of vetl have come back, and none with its code or reference time.

    Then a task whose answer was lost cannot be recognised either: the platform may cut or rewrite descriptions.
    """
    by_id = {entry.task_id: entry for entry in own if entry.task_id}
    returned = [(task, by_id[task.id]) for task in tasks if task.id in by_id]
    return bool(returned) and not any(
        task.codes or task.reference_time_at == entry.act.reference_time_at for task, entry in returned
    )


PENDING, FINAL = "pending", ("completed", "canceled")
_EDITABLE = ("task_type", "patient_id", "updated_at")


def read_tasks(practice_id: str, reading: Reading) -> Plan[TasksRead]:
    """Read every task of a practice; rows and certificates are saved as a sync saves them."""
    discovered = yield from discover(reading)
    ids = yield from identity.look_first(reading, discovered.capabilities, discovered.ids)
    if ids.verdict == "changing":
        return TasksRead(practice_id, certified=False, reason="ids change", started=reading.now, tasks=())
    conventions = conventions_of(reading, discovered.capabilities)
    whole = yield from read_whole_list(conventions)
    reads, reason = [whole], whole.reason
    statuses = {str(row.get("status")) for done in whole.passes for row in done.rows}
    # A list that shows both final statuses is not limited to pending tasks.
    if whole.certified and not statuses.issuperset(FINAL):
        more, reason = yield from _every_status(reading, conventions, whole)
        reads += more
    yield Flush()
    certified = bool(reason) and all(read.certified for read in reads)
    # Of a task that was met several times the last state counts.
    tasks = {key_of(row): task_of(row) for read in reads for done in read.passes for row in done.rows}
    reason = reason or "whether the list shows tasks in every status is not known"
    started = min(done.started for read in reads for done in read.passes)
    return TasksRead(practice_id, certified, reason, started, tuple(tasks.values()))


def _every_status(
    reading: Reading, conventions: QueryConventions, whole: WholeList
) -> Plan[tuple[Sequence[WholeList], str]]:
    """Return further reads, and the evidence that all reads together hold every status, empty if there is none."""
    conventions = yield from find_status(reading, conventions)
    if whole.last.total == 0:
        counts = yield from _counts(conventions)
        if counts is None or sum(counts) == 0:
            # A filter cannot be proven on a list without rows, and none of its forms shows any.
            return (), "the list is empty, without a status and with each"
    if conventions.status is not Result.HONOURED:
        return (), ""
    counts = yield from _counts(conventions)
    if counts is not None and sum(counts) == whole.last.total:
        return (), f"{whole.reason}; the totals by status add up"
    reads: list[WholeList] = []
    for window in [Window(status=status) for status in (PENDING, *FINAL, PENDING)]:
        reads += [(yield from read_whole_list(conventions, window, claimed=window))]
    return reads, "each status read by itself"


def _counts(conventions: QueryConventions) -> Plan[list[int] | None]:
    counts: list[int] = []
    for status in (PENDING, *FINAL):
        try:
            page = yield from do(conventions.count(Window(status=status)))
        except RequestRefused:
            return None
        counts.append(page.total_count)
    return counts


def task_of(row: Row) -> SeenTask:
    """Return a task as a row or an answer shows it. Times count as instants, however they are written."""
    title, description, status, client_id = (
        _text(row.get(name)) for name in ("title", "description", "status", "client_id")
    )
    reference = instant(row.get("reference_time_at"))
    others = [instant(row.get(name)) if name.endswith("_at") else _text(row.get(name)) for name in _EDITABLE]
    content = json.dumps([status, title, description, client_id, str(reference), *map(str, others)])
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    codes = tuple(codes_in(description, title))
    return SeenTask(key_of(row), status, codes, reference, digest, instant(row.get("created_at")))


def _text(value: object) -> str | None:
    return None if value is None else str(value)
