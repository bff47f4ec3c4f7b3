"""Record restated rows: rows that changed after an earlier certificate covered them."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from vetl.core.pages import Changes
from vetl.store.connection import equal, literal, quoted, same_key
from vetl.store.context import Commit, registered_frames


def record_restatements(commit: Commit, restated: pl.DataFrame, on: Sequence[str]) -> dict[str, Changes]:
    """Record rows that were just written or marked as deleted as restated; return their number by practice.

    `restated` has `practice_id`, the columns `on` that identify the rows, and their read time `noticed_at`. Only
    raw rows that this read wrote are recorded.
    """
    if restated.is_empty():
        return {}
    has_ids = commit.table.endpoint.strategy.has_ids
    matching = same_key("stored", "restated", on) if has_ids else equal("stored", "restated", ("practice_id", *on))
    row = ("practice_id", *commit.table.endpoint.key)
    key = ", ".join(f"stored.{quoted(name)}" for name in commit.table.endpoint.key)
    changed = ", ".join(
        f"case when stored.{quoted(name)} is distinct from before.{quoted(name)} then {literal(name)} end"
        for name in (column.name for column in commit.table.hashed)
    )
    with registered_frames(commit.connection, restated=restated):
        stored = commit.connection.execute(
            "insert into control.restatements by name"
            " select restated.practice_id, $endpoint as endpoint, $run as run_id,"
            f" concat_ws('/', {key}) as row_key, restated.noticed_at,"
            " case when stored._deleted_at is not null then 'vanished'"
            " when before._valid_to is not null then 'changed' else 'appeared' end as kind,"
            " case when before._valid_to is null or stored._deleted_at is not null then []"
            f" else list_filter([{changed}], lambda name: name is not null) end as columns"
            f" from {commit.table.raw} as stored join restated on {matching}"
            " and restated.noticed_at = coalesce(stored._deleted_at, stored._loaded_at)"
            f" left join {commit.table.history} as before on {equal('before', 'stored', row)}"
            " and before._valid_to = restated.noticed_at"
            " returning practice_id",
            {"endpoint": commit.endpoint_name, "run": commit.run_id},
        ).fetchall()
    return {practice_id: Changes(restated=rows) for (practice_id,), rows in Counter(stored).items()}
