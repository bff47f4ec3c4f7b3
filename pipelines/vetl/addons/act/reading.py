"""Reading all staff tasks of a practice, in every status, with the proof that none is missing. A plan without I/O.

Contract, Staff tasks, List: whether a list without `status` shows every status is not shown. So a read counts as
whole only if its rows have final statuses, or if the totals by status add up to its total, or if each status was
read by itself; pending is then read twice, because a task may be reopened between two reads.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from vetl.addons.act.sighting import SeenTask, TasksRead, seen_task
from vetl.core.errors import RequestRefused
from vetl.core.list_read import Reading, Result
from vetl.core.pages import Row, Window, instant, key_of
from vetl.core.steps import Flush, Plan, do
from vetl.discovery import identity
from vetl.discovery.conventions import QueryConventions, conventions_of
from vetl.discovery.discover import discover, find_status
from vetl.reading.whole_list import WholeList, read_whole_list

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
    if whole.certified and not _shows_final(whole):
        more, reason = yield from _every_status(reading, conventions, whole)
        reads += more
    yield Flush()
    certified = bool(reason) and all(read.certified for read in reads)
    tasks = _tasks(row for read in reads for done in read.passes for row in done.rows)
    reason = reason or "whether the list shows tasks in every status is not known"
    return TasksRead(practice_id, certified, reason, _started(reads), tasks)


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


def _shows_final(whole: WholeList) -> bool:
    """Return whether the rows have both final statuses: the list is then not limited to pending tasks."""
    statuses = {str(row.get("status")) for done in whole.passes for row in done.rows}
    return statuses.issuperset(FINAL)


def _started(reads: Sequence[WholeList]) -> datetime:
    """Return when the read began that the proof rests on: the earliest pass."""
    return min(done.started for read in reads for done in read.passes)


def _tasks(rows: Iterable[Row]) -> tuple[SeenTask, ...]:
    """Return each task as it was met last."""
    return tuple({key_of(row): task_of(row) for row in rows}.values())


def task_of(row: Row) -> SeenTask:
    """Return a task as a row or an answer shows it. Times count as instants, however they are written."""
    return seen_task(
        task_id=key_of(row),
        status=_text(row.get("status")),
        title=_text(row.get("title")),
        description=_text(row.get("description")),
        client_id=_text(row.get("client_id")),
        reference_time_at=instant(row.get("reference_time_at")),
        others=[instant(row.get(name)) if name.endswith("_at") else _text(row.get(name)) for name in _EDITABLE],
        created_at=instant(row.get("created_at")),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
