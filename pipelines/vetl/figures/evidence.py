"""Return what a figure rests on: the freshness and the certificate of each list that its rows come from.

Say which days an answer is about: none at all, or only a part of a week or of a month.

Return from the private file the reads behind a figure, and the rows that changed since a report.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from vetl.core.text import some_of
from vetl.publishing.statements import Read, query
from vetl.store.connection import among, literal


@dataclass(frozen=True, slots=True)
class Evidence:
    """The proof of one list of one practice, from `meta.proof`. `as_of` is the practice's last sync."""

    practice_id: str
    endpoint: str
    as_of: datetime | None
    certified_through: datetime | None
    evidence: str | None
    source_count: int | None
    warehouse_count: int
    quarantined_rows: int
    restated_rows: int
    last_reconcile_at: datetime | None


def evidence_of(read: Read, lists: Sequence[str], practices: str = "true") -> list[Evidence]:
    """Return the evidence for these lists, of the practices that the SQL condition `practices` chooses."""
    rows = read(
        "select practice_id, endpoint, as_of, certified_through, evidence, source_count, warehouse_count,"
        " quarantined_rows, restated_rows, last_reconcile_at"
        f" from meta.proof join marts.practices using (practice_id)"
        f" where {among('endpoint', lists)} and ({practices}) order by practice_id, endpoint"
    ).rows
    return [Evidence(*row) for row in rows]


LATE = timedelta(days=2)
"""A certificate or a practice that is so far behind is stale. A read just after midnight misses one day."""


def doubts_of(read: Read, evidence: Sequence[Evidence]) -> list[str]:
    """Return a line for each reason why rows may be missing, with all lists and practices that it applies to."""
    ((newest,),) = read("select max(as_of) from marts.practices").rows
    lists: dict[tuple[str, str], list[str]] = {}
    for item in evidence:
        for reason in _reasons(item, newest):
            lists.setdefault((reason, item.practice_id), []).append(item.endpoint)
    practices: dict[tuple[str, str], list[str]] = {}
    for (reason, practice_id), names in lists.items():
        practices.setdefault((", ".join(names), reason), []).append(practice_id)
    return [f"{some_of(ids)} {names}: {reason}" for (names, reason), ids in practices.items()]


def _reasons(item: Evidence, newest: datetime | None) -> Iterator[str]:
    """Yield why rows of a list may be missing; `newest` is the newest sync of any practice."""
    if item.certified_through is None:
        yield "no certificate yet"
    elif item.as_of and item.as_of - item.certified_through >= LATE:
        through, synced = item.certified_through.date(), item.as_of.date()
        yield f"stale: certified only through {through}, though synced on {synced}"
    if item.as_of and newest and newest - item.as_of >= LATE:
        yield f"stale: last synced on {item.as_of.date()}, other practices on {newest.date()}"
    if item.quarantined_rows:
        yield f"{item.quarantined_rows:,} rows in quarantine are not counted"
    if item.last_reconcile_at is None:
        yield "not reconciled yet, so late changes may be unseen; vetl reconcile reads them"


TIME = {
    "day": "day",
    "week": "cast(date_trunc('week', day) as date)",
    "month": "cast(date_trunc('month', day) as date)",
    "weekday": "cast(isodow(day) as integer)",
}
"""The dimensions of time, as SQL over rows with a day."""

_WHOLE = {"week": "7", "month": "cast(day(last_day(start)) as integer)"}
"""The days of a whole period that begins at `start`, as SQL."""


def no_days(read: Read, chosen: str, of_practices: str) -> list[str]:
    """Return one line if the SQL `chosen` chooses no day of any practice that `of_practices` chooses."""
    days = "from meta.practice_days as counted where"
    ((found,),) = read(f"select exists (select 1 {days} {chosen})").rows
    if found:
        return []
    ((first, last),) = read(f"select min(day), max(day) {days} {of_practices}").rows
    known = f"the days are {first} to {last}" if first else "no practice has days yet"
    return [f"there are no data of these days, so there is no number; {known}"]


def part_periods(read: Read, by: Sequence[str], chosen: str, rows: Collection[tuple[Any, ...]]) -> list[str]:
    """Return a line about the weeks or months of an answer of which a practice has some days only."""
    lines: list[str] = []
    for name in (one for one in by if one in _WHOLE):
        starts = {row[by.index(name)] for row in rows}
        found = read(
            "select start, min(days), whole from (select start, days,"
            f" {_WHOLE[name]} as whole from (select {TIME[name]} as start, count(*) as days"
            f" from meta.practice_days as counted where {chosen} group by practice_id, start))"
            " where days < whole group by start, whole order by start"
        ).rows
        parts = [f"{start} ({days} of {whole} days)" for start, days, whole in found if start in starts]
        if parts:
            lines.append(f"not every {name} is whole: {some_of(parts)}")
    return lines


@dataclass(frozen=True, slots=True)
class WindowRead:
    """A window of a list as it was read last, from `control.windows`."""

    practice_id: str
    endpoint: str
    kind: str
    window_start: str | None
    window_end: str | None
    total: int
    rows: int
    distinct_ids: int | None
    is_certified: bool
    reason: str
    finished_at: datetime
    run_id: str


@dataclass(frozen=True, slots=True)
class MovedRow:
    """A row that counts in another way than it did in a report 24 hours after the end of its day.

    `reported` and `now` are its counted columns as JSON; `None` if the row was not there.
    """

    id: str
    reported: str | None
    now: str | None


_VERSIONS = {
    "booking_intent_daily": ("stg_history__phone_calls", "call_key", ("booking_intent", "booked")),
    "booking_funnel_daily": ("stg_history__booking_sessions", "session_id", ("status", "has_appointment")),
}
"""The versions that `meta.report_revisions` counts, by mart: their model, the key and the counted columns."""


def moved_rows(private: Path, mart: str, practice: str, day: date) -> list[MovedRow]:
    """Return the rows of a practice-local day that changed after its report; none if the mart has no reports."""
    if mart not in _VERSIONS:
        return []
    model, key, columns = _VERSIONS[mart]
    state = "to_json(struct_pack(" + ", ".join(f"{name} := {name}" for name in columns) + "))"
    of_the_day = f"practice_id = {literal(practice)} and day = date {literal(day.isoformat())}"
    rows = query(
        private,
        f"with versions as (select {key} as id, cast({state} as varchar) as state, valid_from, valid_to,"
        f" (select ends_at + interval 24 hours from meta.practice_days where {of_the_day}) as reported_at"
        f" from staging.{model} where {of_the_day}),"
        " reported as (select id, state from versions"
        " where valid_from <= reported_at and coalesce(valid_to > reported_at, true)),"
        " latest as (select id, state from versions where valid_to is null)"
        " select id, reported.state, latest.state from reported full join latest using (id)"
        " where reported.state is distinct from latest.state order by id",
    ).rows
    return [MovedRow(*row) for row in rows]


def reads_of(private: Path, lists: Sequence[str], practice: str, day: date) -> list[WindowRead]:
    """Return the last read of each window of these lists that may hold rows of a practice-local day.

    Bounds are days of the practice's clock or UTC instants. A local day reaches into the UTC day before or after
    it, so one day is added on each side of instants.
    """
    first, of_day, last = (literal((day + timedelta(days=days)).isoformat()) for days in (-1, 0, 1))
    rows = query(
        private,
        "select practice_id, endpoint, kind, window_start, window_end, total_last, rows, distinct_ids, certified,"
        " reason, finished_at, run_id from control.windows"
        f" where practice_id = {literal(practice)} and {among('endpoint', lists)}"
        f" and coalesce(left(window_start, 10) <= if(len(window_start) = 10, {of_day}, {last}), true)"
        f" and coalesce(left(window_end, 10) >= if(len(window_end) = 10, {of_day}, {first}), true)"
        " qualify row_number() over (partition by endpoint, kind, window_start, window_end, status"
        " order by finished_at desc) = 1 order by endpoint, finished_at, kind",
    ).rows
    return [WindowRead(*row) for row in rows]
