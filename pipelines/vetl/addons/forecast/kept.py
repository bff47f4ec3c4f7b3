"""Keep the predictions of `vetl forecast` in `control.forecasts`, whose rows are added and never changed."""

from datetime import UTC, datetime, time

import duckdb
import polars as pl

from vetl.core.zones import zone
from vetl.store.connection import quoted
from vetl.store.instants import INSTANT

MEASURES = ("calls", "bookable_calls", "staff_minutes")
"""The predicted values of each hour, each with a `_low` and a `_high` end and a `_naive` prediction."""

Predictions = pl.DataFrame
"""`practice_id`, `made_on`, `made_at`, `time_zone`, `weeks`, `day`, `hour` and the measures."""


def keep_forecasts(connection: duckdb.DuckDBPyConnection, predictions: Predictions) -> int:
    """Add predictions of practices that have none of this day yet, and note these practices for the next build.

    Args:
        connection: That of the private file, in a transaction.
        predictions: Those of some practices, each with one `made_on`.

    Returns:
        The number of predictions that were added.

    Raises:
        duckdb.ConstraintException: an hour had begun when the prediction was made.
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
