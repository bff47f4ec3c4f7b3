"""Return from the private file the reads behind a figure, and the rows that changed since a report."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from vetl.publishing.query import query
from vetl.store.connection import literal


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
    named = ", ".join(literal(name) for name in lists)
    first, of_day, last = (literal((day + timedelta(days=days)).isoformat()) for days in (-1, 0, 1))
    rows = query(
        private,
        "select practice_id, endpoint, kind, window_start, window_end, total_last, rows, distinct_ids, certified,"
        " reason, finished_at, run_id from control.windows"
        f" where practice_id = {literal(practice)} and endpoint in ({named})"
        f" and coalesce(left(window_start, 10) <= if(len(window_start) = 10, {of_day}, {last}), true)"
        f" and coalesce(left(window_end, 10) >= if(len(window_end) = 10, {of_day}, {first}), true)"
        " qualify row_number() over (partition by endpoint, kind, window_start, window_end, status"
        " order by finished_at desc) = 1 order by endpoint, finished_at, kind",
    ).rows
    return [WindowRead(*row) for row in rows]
