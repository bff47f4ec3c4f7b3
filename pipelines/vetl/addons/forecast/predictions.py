"""Keep the predictions of `vetl forecast` in `control.forecasts`, whose rows are added and never changed.

The inbound calls of each practice by hour of the wall clock, over the days whose calls are certified whole.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path

import duckdb
import polars as pl

from vetl.core.zones import zone
from vetl.publishing.opened import opened
from vetl.store.connection import quoted
from vetl.store.instants import INSTANT

MEASURES = ("calls", "bookable_calls", "staff_minutes")
"""The predicted values of each hour, each with a `_low` and a `_high` end and a `_naive` prediction."""

Predictions = pl.DataFrame
"""`practice_id`, `made_on`, `made_at`, `time_zone`, `weeks`, `day`, `hour` and the measures."""


def keep_forecasts(connection: duckdb.DuckDBPyConnection, predictions: Predictions) -> int:
    """Add predictions of practices that have none of this day yet, and note these practices for the next build.

    Return the number of predictions that were added. `duckdb.ConstraintException` if an hour had begun when the
    prediction was made.
    """
    columns = [name for name in predictions.columns if name != "time_zone"]
    connection.register("predictions", predictions.with_columns(begins_at=_begins(predictions)).to_arrow())
    try:
        connection.execute(
            "create or replace temp table new_predictions as select * exclude (time_zone)"
            " from predictions anti join control.forecasts using (practice_id, made_on)"
        )
        connection.execute(
            f"insert into control.forecasts ({', '.join(map(quoted, columns))}, begins_at)"
            f" select {', '.join(map(quoted, columns))}, begins_at from new_predictions"
        )
        connection.execute(
            "insert into control.changes select distinct practice_id, 'forecasts', null::date from new_predictions"
            " where practice_id not in (select practice_id from control.changes where table_name = 'forecasts')"
        )
        ((added,),) = connection.execute("select count(*) from new_predictions").fetchall()
    finally:
        connection.unregister("predictions")
        connection.execute("drop table if exists new_predictions")
    return added


def _begins(predictions: Predictions) -> pl.Series:
    """Return the instant at which each predicted hour begins."""
    hours = predictions.select("day", "hour", "time_zone").rows()
    begins = [datetime.combine(day, time(hour), zone(name)).astimezone(UTC) for day, hour, name in hours]
    return pl.Series(begins, dtype=INSTANT)


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


@dataclass(frozen=True, slots=True)
class Span:
    """The calls of a practice: its clock at the last sync, its first and last call, its last certified day."""

    practice_id: str
    time_zone: str
    as_of: datetime
    today: date
    first_call: date
    last_call: date
    through: date


def spans(file: Path) -> list[Span]:
    """Return the span of each practice that has inbound calls and a certified day."""
    with opened(file, None) as connection:
        return [Span(*row) for row in connection.execute(_SPANS).fetchall()]


def calls_by_hour(file: Path, days: Mapping[str, tuple[date, date]]) -> pl.DataFrame:
    """Return `practice_id`, `at` (wall clock), `calls`, `bookable_calls` and `staff_minutes` of every hour.

    `days` has the first and the last day of each practice.
    """
    chosen = pl.DataFrame(
        [(practice, first, last) for practice, (first, last) in days.items()],
        schema={"practice_id": pl.String, "since": pl.Date, "through": pl.Date},
        orient="row",
    )
    with opened(file, None) as connection:
        connection.register("spans", chosen.to_arrow())
        return connection.sql(_HOURS).pl().rename({"hour_at": "at"})
