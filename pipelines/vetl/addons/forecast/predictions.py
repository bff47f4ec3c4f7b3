"""Keep the predictions of `vetl forecast` in `control.forecasts`, whose rows are added and never changed.

The inbound calls of each practice by hour of the wall clock, over the days whose calls are certified whole.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, time
from pathlib import Path

import polars as pl

from vetl.addons.forecast.practices import Span
from vetl.core.zones import zone
from vetl.publishing.opened import opened
from vetl.store.commit import frame_of, registered_frames
from vetl.store.connection import Connection
from vetl.store.control.state import note_undated
from vetl.store.instants import INSTANT

MEASURES = ("calls", "bookable_calls", "staff_minutes")
"""The predicted values of each hour, each with a `_low` and a `_high` end and a `_naive` prediction."""

Predictions = pl.DataFrame
"""`practice_id`, `made_on`, `made_at`, `time_zone`, `weeks`, `day`, `hour` and the measures."""


def keep_forecasts(connection: Connection, predictions: Predictions) -> int:
    """Add predictions of practices that have none of this day yet, and note these practices for the next build.

    Return the number of predictions that were added. `duckdb.ConstraintException` if an hour had begun when the
    prediction was made.
    """
    hours = predictions.select("day", "hour", "time_zone").rows()
    begins = [datetime.combine(day, time(hour), zone(name)).astimezone(UTC) for day, hour, name in hours]
    begins_at = pl.Series(begins, dtype=INSTANT)
    with registered_frames(connection, predictions=predictions.with_columns(begins_at=begins_at)):
        added = connection.execute(
            "insert into control.forecasts by name select * exclude (time_zone)"
            " from predictions anti join control.forecasts using (practice_id, made_on) returning practice_id"
        ).fetchall()
    note_undated(connection, "forecasts", added)
    return len(added)


_SPANS = """
    with certified as (
        select practice_id, coalesce(certified_through, '-infinity'::timestamptz) as through
        from meta.proof where endpoint = 'phone_calls'
    ),
    whole as (
        select practice_id, max(day) as through from meta.practice_days join certified using (practice_id)
        where is_over and ends_at <= certified.through group by practice_id
    ),
    called as (
        select practice_id, min(day) as first_call, max(day) as last_call
        from marts.phone_calls where direction = 'inbound' group by practice_id
    )
    select practice_id, time_zone, as_of, today, first_call, last_call, through
    from marts.practices join whole using (practice_id) join called using (practice_id)
    where as_of is not null order by practice_id
"""

_HOURS = """
    with hours as (
        select practice_id, unnest(generate_series(
            since::timestamp, through::timestamp + interval 23 hours, interval 1 hour
        )) as hour_at from spans
    ),
    counted as (
        select practice_id, date_trunc('hour', called_at_local) as hour_at,
               count(*)::float as calls,
               count(*) filter (where is_new_booking_intent)::float as bookable_calls,
               coalesce(sum(duration_seconds) filter (where is_answered), 0)::float / 60 as staff_minutes
        from marts.phone_calls where direction = 'inbound' group by all
    )
    select practice_id, hour_at, coalesce(calls, 0) as calls, coalesce(bookable_calls, 0) as bookable_calls,
           coalesce(staff_minutes, 0) as staff_minutes
    from hours left join counted using (practice_id, hour_at) order by practice_id, hour_at
"""


def spans(file: Path) -> list[Span]:
    """Return the span of each practice that has inbound calls and a certified day."""
    with opened(file, None) as connection:
        return [Span(*row) for row in connection.execute(_SPANS).fetchall()]


def calls_by_hour(file: Path, weeks_of: Sequence[Span]) -> pl.DataFrame:
    """Return `practice_id`, `at` (wall clock), `calls`, `bookable_calls` and `staff_minutes` of every hour."""
    chosen = pl.DataFrame(
        [(one.practice_id, one.since, one.through) for one in weeks_of],
        schema={"practice_id": pl.String, "since": pl.Date, "through": pl.Date},
        orient="row",
    )
    with opened(file, None) as connection, registered_frames(connection, spans=chosen):
        return frame_of(connection, _HOURS).rename({"hour_at": "at"})
