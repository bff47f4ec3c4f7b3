"""Store the result of the last attempt to read each list in `control.attempts`."""

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb


def keep_attempts(
    connection: duckdb.DuckDBPyConnection, run_id: str, results: Sequence[Mapping[str, Any]]
) -> None:
    """Replace the last attempt of each list by the results of a run (`SyncResult.as_json`).

    A failed list keeps the `certified_through` and the `read_at` of its earlier attempt.
    """
    if not results:
        return
    names = ("practice_id", "endpoint", "state", "reason", "certified_through")
    columns = [[result[name] for result in results] for name in names]
    unnested = ", ".join(f"unnest(?::varchar[]) as {name}" for name in names)
    connection.execute(
        f"create or replace temp table latest_attempts as select given.* replace ("
        " coalesce(given.certified_through, before.certified_through) as certified_through),"
        " if(given.state = 'failed', before.read_at, now()) as read_at"
        f" from (select {unnested}) as given left join control.attempts as before using (practice_id, endpoint)",
        columns,
    )
    connection.execute(
        "delete from control.attempts where (practice_id, endpoint) in"
        " (select (practice_id, endpoint) from latest_attempts)"
    )
    connection.execute(
        "insert into control.attempts by name select latest.*, runs.run_id, runs.command, now() as finished_at"
        " from latest_attempts as latest, control.runs as runs where runs.run_id = ?",
        [run_id],
    )
    connection.execute("drop table latest_attempts")
