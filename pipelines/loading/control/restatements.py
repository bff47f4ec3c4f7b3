"""Rows that differ from what an earlier certificate covers: what changed, and when it was noticed."""

from collections.abc import Sequence

import polars as pl

from pipelines.loading.connection import literal, quoted
from pipelines.loading.context import Commit, registered_frames


def record_restatements(commit: Commit, found: pl.DataFrame, on: Sequence[str]) -> int:
    """Record rows just written (or marked as deleted) as restated. Returns how many.

    `found` has the columns `on`, which tell the rows, and `noticed_at`, when they were read: of the rows of the
    raw table that agree in `on`, those that were written by that read are meant.
    """
    if found.is_empty():
        return 0
    same = " and ".join(f"stored.{quoted(name)} = found.{quoted(name)}" for name in on)
    key = ", ".join(f"stored.{quoted(name)}" for name in commit.table.endpoint.key)
    before = " and ".join(f"before.{quoted(name)} = stored.{quoted(name)}" for name in commit.table.endpoint.key)
    changed = ", ".join(
        f"case when stored.{quoted(name)} is distinct from before.{quoted(name)} then {literal(name)} end"
        for name in (column.name for column in commit.table.hashed)
    )
    with registered_frames(commit.connection, found=found):
        kept = commit.connection.execute(
            "insert into control.restatements by name"
            " select $practice as practice_id, $endpoint as endpoint, $run as run_id,"
            f" concat_ws('/', {key}) as row_key, found.noticed_at,"
            " case when stored._deleted_at is not null then 'vanished'"
            " when before._valid_to is not null then 'changed' else 'appeared' end as kind,"
            " case when before._valid_to is null or stored._deleted_at is not null then []"
            f" else list_filter([{changed}], lambda name: name is not null) end as columns"
            f" from {commit.table.raw} as stored join found on {same} and stored.practice_id = $practice"
            " and found.noticed_at = coalesce(stored._deleted_at, stored._loaded_at)"
            f" left join {commit.table.history} as before on {before} and before.practice_id = $practice"
            " and before._valid_to = found.noticed_at",
            {"practice": commit.practice_id, "endpoint": commit.endpoint_name, "run": commit.run_id},
        )
        return kept.fetchall()[0][0]
