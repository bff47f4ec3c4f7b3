"""Record new fields and values that the contract does not list, once each, in `control.schema_changes`.

Record restated rows: rows that changed after an earlier certificate covered them.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from vetl.core.endpoint import Column
from vetl.core.labels import is_label
from vetl.core.pages import Changes
from vetl.store.connection import equal, literal, quoted, same_key
from vetl.store.context import Commit, added, registered_frames

_LONGEST_FIELD_NAME = 60


@dataclass(frozen=True, slots=True)
class Drift:
    """One departure from the contract. `name` is the field, `value` the new value or empty."""

    kind: str
    name: str
    value: str = ""

    def describe(self, endpoint: str) -> str:
        """Return one line for the operator."""
        match self.kind:
            case "new_field":
                return f"{endpoint}: new field {self.name}"
            case "new_value":
                return f"{endpoint}: new value {self.value} in {self.name}"
            case _:
                return f"{endpoint}: {self.value}"


Departure = tuple[str, Drift]
"""A practice's id, and a departure of its list."""


def new_fields(fields: Iterable[tuple[str, str]]) -> list[Departure]:
    """Return fields that the contract does not list, each with the practice whose rows have it."""
    return [(practice_id, Drift("new_field", name[:_LONGEST_FIELD_NAME])) for practice_id, name in sorted(fields)]


def new_values(frame: pl.DataFrame, columns: Sequence[Column]) -> list[Departure]:
    """Return enum values that the contract does not list; a value that is no label is masked."""
    strange = {
        column.name: ~pl.col(column.name).is_in(list(column.values))
        for column in columns
        if column.values is not None
    }
    any_strange = frame.select(is_strange.any().alias(name) for name, is_strange in strange.items())
    return [
        (practice_id, Drift("new_value", name, value if is_label(value) else f"(masked, {len(value)} characters)"))
        for name in any_strange.columns
        if any_strange[name].item()
        for practice_id, value in frame.filter(strange[name])
        .select("practice_id", name)
        .unique()
        .sort(name)
        .rows()
    ]


def record_drift(commit: Commit, departures: Iterable[Departure]) -> dict[str, Changes]:
    """Record new departures; return a line for each of them, by practice."""
    distinct = dict.fromkeys(departures)
    if not distinct:
        return {}
    recorded = commit.connection.execute(
        "select practice_id, kind, name, value from control.schema_changes where endpoint = ?",
        [commit.endpoint_name],
    ).fetchall()
    new = [(of, drift) for of, drift in distinct if (of, drift.kind, drift.name, drift.value) not in recorded]
    for practice_id, drift in new:
        commit.connection.execute(
            "insert into control.schema_changes values (?, ?, ?, ?, ?, ?, ?)",
            [
                practice_id,
                commit.endpoint_name,
                drift.kind,
                drift.name,
                drift.value,
                commit.run_id,
                commit.clocks[practice_id],
            ],
        )
    return added(
        {practice_id: Changes(drift=(drift.describe(commit.endpoint_name),))} for practice_id, drift in new
    )


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
