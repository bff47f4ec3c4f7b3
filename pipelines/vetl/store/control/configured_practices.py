"""Store the configured practices, and rebuild derived columns after a time zone was corrected."""

from collections.abc import Sequence

import duckdb

from vetl.core.list_read import Practice
from vetl.store.context import frame_of, registered_frames
from vetl.store.control import marks
from vetl.store.instants import add_called_at, local_minutes
from vetl.store.phone_calls.stored_calls import DETAILS
from vetl.store.tables import RawTable


def zones(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the time zone of each practice by its id."""
    return dict(connection.execute("select id, time_zone from control.practices").fetchall())


def record_practices(
    connection: duckdb.DuckDBPyConnection, practices: Sequence[Practice], tables: Sequence[RawTable]
) -> None:
    """Store the practices as configured. A practice that is no longer configured stays, like its rows.

    The mart of calls shows zone and name and is built by changed days, so a change of either marks all days.
    """
    stored = {row[0]: row for row in connection.execute("from control.practices").fetchall()}
    for practice in practices:
        row = (practice.id, practice.name, practice.time_zone, practice.history_start, practice.group)
        before = stored.get(practice.id)
        if row == before:
            continue
        connection.execute("delete from control.practices where id = ?", [practice.id])
        connection.execute("insert into control.practices values (?, ?, ?, ?, ?)", row)
        if before is None:
            continue
        _, name, zone, *_ = before
        zone_changed = zone != practice.time_zone
        for table in tables:
            if table.endpoint.strategy.has_ids:
                continue
            if zone_changed:
                _rebuild_instants(connection, practice, table)
            if zone_changed or name != practice.name:
                marks.note_practice(connection, practice.id, table)


def _rebuild_instants(connection: duckdb.DuckDBPyConnection, practice: Practice, table: RawTable) -> None:
    """Recompute the instants of calls; clear details that contradict the new zone: they are of other calls."""
    for name in (table.raw, table.history):
        _clear_contradicted(connection, practice, name)
        minutes = frame_of(
            connection,
            f"select distinct practice_id, called_at_local, call_date from {name} where practice_id = $practice"
            " order by called_at_local",
            params={"practice": practice.id},
        )
        resolved, _ = add_called_at(minutes, practice.time_zone)
        with registered_frames(connection, resolved=resolved.select("called_at_local", instant="called_at")):
            connection.execute(
                f"update {name} as stored set called_at ="
                " coalesce(date_trunc('minute', stored.created_at), resolved.instant) from resolved"
                " where stored.called_at_local = resolved.called_at_local and stored.practice_id = ?",
                [practice.id],
            )


def _clear_contradicted(connection: duckdb.DuckDBPyConnection, practice: Practice, name: str) -> None:
    """Clear the details of calls whose exact time is at another minute of the practice's clock."""
    exact = frame_of(
        connection,
        f"select distinct practice_id, called_at_local, created_at from {name}"
        " where practice_id = $practice and created_at is not null",
        params={"practice": practice.id},
    )
    minutes = local_minutes(exact["created_at"], exact["practice_id"], {practice.id: practice.time_zone})
    contradicted = exact.filter(minutes != exact["called_at_local"])
    nothing = ", ".join(f"{column} = null" for column in DETAILS)
    with registered_frames(connection, contradicted=contradicted):
        connection.execute(
            f"update {name} as stored set {nothing} from contradicted where stored.practice_id = ?"
            " and stored.created_at = contradicted.created_at"
            " and stored.called_at_local = contradicted.called_at_local",
            [practice.id],
        )
