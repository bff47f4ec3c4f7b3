"""Where the source departs from the contract: noticed, named once, kept in `control.schema_changes`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from pipelines.core.endpoint import Column
from pipelines.core.labels import is_label
from pipelines.loading.context import Commit

_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Drift:
    """One departure. `name` is the field, `value` the new value, empty where there is none."""

    kind: str
    name: str
    value: str = ""

    def told(self, endpoint: str) -> str:
        """One line for the operator."""
        match self.kind:
            case "new_field":
                return f"{endpoint}: new field {self.name}"
            case "new_value":
                return f"{endpoint}: new value {self.value} in {self.name}"
            case _:
                return f"{endpoint}: {self.value}"


def new_fields(names: Iterable[str]) -> list[Drift]:
    """Fields that the contract does not know."""
    return [Drift("new_field", name[:_LONGEST]) for name in sorted(names)]


def new_values(frame: pl.DataFrame, columns: Sequence[Column]) -> list[Drift]:
    """Enum values that the contract does not list; what is unlike a label is not repeated."""
    return [
        Drift("new_value", column.name, value if is_label(value) else f"(masked, {len(value)} characters)")
        for column in columns
        if column.known is not None
        for value in frame[column.name].drop_nulls().unique().sort()
        if value not in column.known
    ]


def record_drift(commit: Commit, departures: Sequence[Drift]) -> tuple[str, ...]:
    """Record what is new. Returns a line for each departure that was not known before."""
    notes: list[str] = []
    for drift in dict.fromkeys(departures):
        row = [commit.practice_id, commit.endpoint_name, drift.kind, drift.name, drift.value]
        recorded = commit.connection.execute(
            "select 1 from control.schema_changes where practice_id = ? and endpoint = ?"
            " and kind = ? and name = ? and value = ?",
            row,
        ).fetchall()
        if not recorded:
            commit.connection.execute(
                "insert into control.schema_changes values (?, ?, ?, ?, ?, ?, ?)",
                [*row, commit.run_id, commit.clock],
            )
            notes.append(drift.told(commit.endpoint_name))
    return tuple(notes)
