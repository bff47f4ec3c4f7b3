"""Count the marts for the headlines, and keep the headlines in `control.headlines`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import polars as pl

from vetl.store.connection import Connection, transaction

DAYS = 420
"""So many days are counted: a year, and the weeks that say what was usual before it."""

_FEWEST = 20
"""A part, such as a source of bookings, with fewer rows is not looked at."""

MART_COLUMNS = (
    "practice_id", "measure", "since", "until", "first_seen", "direction", "value", "usual", "people", "sureness",
    "rank", "made_of", "words", "part",
)  # fmt: skip
"""The columns of `marts.headlines`."""

COLUMNS = (
    *MART_COLUMNS, "shape", "counted", "cases", "of_cases", "distance", "hour", "until_hour",
    "weekday",
)  # fmt: skip

_SHARES = {
    "handed_over": ("calls", "is_answered and ending in ('resolved', 'handed_over')", "ending = 'handed_over'"),
    "after_hours": ("calls", "true", "not is_open"),
    "emergency_lost": ("calls", "call_classification = 'emergency'", "ending = 'lost'"),
    "call_booked": ("calls", "is_new_booking_intent", "is_new_booking"),
    "completed": ("sessions", "is_over", "status = 'completed'"),
    "opted_out": ("outreach", "is_contacted and is_mature", "outcome = 'opted_out'"),
    "no_show": ("visits", "attendance in ('kept', 'no_show')", "attendance = 'no_show'"),
    "task_done": ("tasks", "is_old", "coalesce(hours_to_finalize <= 72, false)"),
}
"""Shares by day: the rows, the condition of the whole, and that of the part."""

_COUNTS = {
    "sessions": ("sessions", "true"),
    "outreach": ("contacts", "true"),
    "visits": ("visits", "attendance <> 'canceled'"),
    "work": ("work", "true"),
}
"""Counts by day: the rows and their condition."""

_PARTS = {
    "step_left": ("sessions", "is_over", "stage", "is_left", "count(*)"),
    "source": ("sessions", "true", "referral_source", "true", "count(*)"),
    "purpose": ("outreach", "true", "purpose", "true", "count(distinct coalesce(client_id, request_id))"),
}
"""Parts of a whole: the rows, their condition, the column, which rows of a part count, and its people."""

_ROWS = f"""
limits as (select practice_id, today, today - {DAYS} as first from marts.practices where today is not null),
calls as (
    select practice_id, day, cast(hour(called_at_local) as bigint) as hour, coalesce(is_open, true) as is_open,
        is_answered, ending, call_classification, is_new_booking_intent, is_new_booking
    from marts.phone_calls inner join limits using (practice_id)
    where direction = 'inbound' and day >= first
),
sessions as (
    select practice_id, day, status, stage, referral_source, status <> 'active' as is_over,
        status = 'abandoned' as is_left
    from marts.booking_sessions inner join limits using (practice_id) where day >= first
),
outreach as (
    select practice_id, day, purpose, client_id, request_id, outcome, is_contacted, is_mature
    from marts.outreach_requests inner join limits using (practice_id) where day >= first
),
contacts as (
    select practice_id, cast(contacted_at_local as date) as day
    from marts.outreach_requests inner join limits using (practice_id) where contacted_at_local >= first
),
visits as (
    select practice_id, cast(booking_date_local as date) as day, attendance
    from marts.appointments inner join limits using (practice_id) where booking_date_local >= first
),
tasks as (
    select practice_id, day, hours_to_finalize, day <= today - 4 as is_old
    from marts.staff_tasks inner join limits using (practice_id) where day >= first
),
work as (
    select practice_id, day from sessions
    union all
    select practice_id, day from outreach
    union all
    select practice_id, day from tasks
    union all
    select practice_id, day
    from marts.phone_calls inner join limits using (practice_id) where direction = 'outbound' and day >= first
)
"""


@dataclass(frozen=True, slots=True)
class CountedMarts:
    """The counts of the marts, see `vetl.headlines.measures.Counts`, with the names and days of the practices.

    `certified` has the last day of each practice and list that ended before its certificate.
    """

    counts: pl.DataFrame
    names: Mapping[str, str]
    today: Mapping[str, date]
    certified: Mapping[tuple[str, str], date | None]


def has_marts(connection: Connection) -> bool:
    """Return whether the marts were built."""
    found = "select count(*) from duckdb_tables() where schema_name = 'marts' and table_name = 'headlines'"
    return bool(connection.execute(found).fetchall()[0][0])


def count_marts(connection: Connection, fewest_people: int) -> CountedMarts:
    """Count the marts by practice and day; a part of fewer people than this is not counted."""
    statement = f"with {_ROWS} {' union all by name '.join(_selects(max(fewest_people, _FEWEST)))}"
    rows = pl.from_arrow(connection.sql(statement).to_arrow_table())
    assert isinstance(rows, pl.DataFrame)
    practices = connection.execute(
        "select practice_id, coalesce(name, practice_id), today from marts.practices where today is not null"
    ).fetchall()
    certified = connection.execute(
        "select practice_id, endpoint, max(day) filter (where ends_at <= certified_through)"
        " from meta.proof inner join meta.practice_days using (practice_id) group by all"
    ).fetchall()
    return CountedMarts(
        rows,
        {practice: name for practice, name, _ in practices},
        {practice: today for practice, _, today in practices},
        {(practice, endpoint): through for practice, endpoint, through in certified},
    )


def _selects(fewest: int) -> Sequence[str]:
    by_hour = [
        f"select practice_id, '{measure}' as measure, null::varchar as part, day, hour, {some} as some,"
        f" {whole} as whole from calls where is_open group by all"
        for measure, some, whole in (
            ("answered", "count(*) filter (where is_answered)", "count(*)"),
            ("calls", "count(*)", "0"),
        )
    ]
    shares = [
        f"select practice_id, '{measure}' as measure, null::varchar as part, day, null::bigint as hour,"
        f" count(*) filter (where {part}) as some, count(*) as whole from {rows} where {whole} group by all"
        for measure, (rows, whole, part) in _SHARES.items()
    ]
    counts = [
        f"select practice_id, '{measure}' as measure, null::varchar as part, day, null::bigint as hour,"
        f" count(*) as some, 0 as whole from {rows} where {condition} group by all"
        for measure, (rows, condition) in _COUNTS.items()
    ]
    parts = [
        f"select practice_id, '{measure}' as measure, parts.part, day, null::bigint as hour,"
        f" count(*) filter (where {column} = parts.part and {counted}) as some, count(*) as whole"
        f" from {rows} inner join (select practice_id, {column} as part from {rows}"
        f" where {condition} and {counted} and {column} <> '' group by all having {people} >= {fewest})"
        f" as parts using (practice_id) where {condition} group by all"
        for measure, (rows, condition, column, counted, people) in _PARTS.items()
    ]
    return [*by_hour, *shares, *counts, *parts]


def read_headlines(connection: Connection) -> list[dict[str, Any]]:
    """Return the headlines that are kept."""
    rows = connection.execute(f"select {', '.join(COLUMNS)} from control.headlines").fetchall()
    return [dict(zip(COLUMNS, row, strict=True)) for row in rows]


def keep_headlines(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace the headlines by these, in the mart too, which a build before has made from the old ones."""
    with transaction(connection):
        connection.execute("delete from control.headlines")
        if rows:
            places = ", ".join("?" for _ in COLUMNS)
            statement = f"insert into control.headlines ({', '.join(COLUMNS)}) values ({places})"
            connection.executemany(statement, [[row[name] for name in COLUMNS] for row in rows])
        connection.execute("delete from marts.headlines")
        connection.execute("insert into marts.headlines by name select * from staging.stg_control__headlines")
