# ruff: noqa: S608 - names come from declarations and are quoted; values are parameters
"""The practices as configured, and what must be derived anew where a time zone was corrected."""

from collections.abc import Sequence

import duckdb

from pipelines.endpoint import DateWindows
from pipelines.loading.call_times import add_called_at
from pipelines.loading.context import shown
from pipelines.loading.day_changes import DETAILS
from pipelines.loading.tables import RawTable
from pipelines.practice import Practice


def zones(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The time zone of each practice by its id."""
    return dict(connection.execute("select id, time_zone from control.practices").fetchall())


def keep(connection: duckdb.DuckDBPyConnection, practices: Sequence[Practice], tables: Sequence[RawTable]) -> None:
    """Keep the practices as they are configured now. One that is not configured any more stays, as its rows do."""
    before = zones(connection)
    for practice in practices:
        connection.execute("delete from control.practices where id = ?", [practice.id])
        connection.execute(
            "insert into control.practices values (?, ?, ?, ?, ?)",
            [practice.id, practice.name, practice.time_zone, practice.history_start, practice.group],
        )
        if before.get(practice.id, practice.time_zone) != practice.time_zone:
            for table in tables:
                if isinstance(table.endpoint.strategy, DateWindows):
                    _derive_anew(connection, practice, table)


def _derive_anew(connection: duckdb.DuckDBPyConnection, practice: Practice, table: RawTable) -> None:
    """Instants of calls follow from the zone. Details that contradict the new one belong to other calls."""
    for name in (table.raw, table.history):
        contradicted = (
            "practice_id = $practice and created_at is not null and"
            " date_trunc('minute', timezone($zone, created_at)) <> called_at_local"
        )
        nothing = ", ".join(f"{column} = null" for column in DETAILS)
        connection.execute(
            f"update {name} set {nothing} where {contradicted}",
            {"practice": practice.id, "zone": practice.time_zone},
        )
        minutes = connection.sql(
            f"select distinct called_at_local, call_date from {name} where practice_id = $practice"
            " order by called_at_local",
            params={"practice": practice.id},
        ).pl()
        resolved, _ = add_called_at(minutes, practice.time_zone)
        with shown(connection, resolved=resolved.select("called_at_local", instant="called_at")):
            connection.execute(
                f"update {name} as stored set called_at ="
                " coalesce(date_trunc('minute', stored.created_at), resolved.instant) from resolved"
                " where stored.called_at_local = resolved.called_at_local and stored.practice_id = ?",
                [practice.id],
            )
