"""A private warehouse as `sync` leaves it, filled with given rows instead of a source's."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
from vetl.core.list_read import Practice
from vetl.endpoints import REGISTRY
from vetl.store.control.phone_numbers import note_phone_numbers
from vetl.store.warehouse import Warehouse

Rows = Sequence[Mapping[str, Any]]
"""Rows of one raw table; a column that a row lacks is null."""


def every_list_read(practices: Sequence[Practice]) -> dict[str, Any]:
    """Return the summary of a run that read every list of these practices."""
    lists = [(practice.id, endpoint.name) for practice in practices for endpoint in REGISTRY]
    result = {"state": "certified", "reason": "", "certified_through": None}
    return {"results": [{"practice_id": of, "endpoint": name, **result} for of, name in lists]}


def create_warehouse(
    path: Path,
    *,
    practices: Sequence[Practice] = (),
    clocks: Sequence[datetime | None] = (),
    tables: Mapping[str, Rows] | None = None,
) -> Path:
    """Make the file, with one run for each of the source's clocks, and fill tables by their names.

    They are those of `raw`, or of the schema that a name begins with.

    Raises:
        duckdb.Error: A row has a column that its table lacks.
    """
    with Warehouse.open(path, REGISTRY, lock_wait_seconds=0) as warehouse:
        warehouse.set_practices(practices)
        for number, clock in enumerate(clocks):
            run_id = f"run-{number}"
            warehouse.start_run(run_id, datetime(2025, 1, 1, number, tzinfo=UTC), "sync")
            summary = every_list_read(practices) if clock else {}
            warehouse.finish_run(run_id, source_clock=clock, exit_code=0 if clock else 1, summary=summary)
    with duckdb.connect(path) as connection:
        connection.execute("set timezone = 'UTC'")
        for table, rows in (tables or {}).items():
            connection.register("given", pl.DataFrame(rows, infer_schema_length=None).to_arrow())
            connection.execute(
                f"insert into {table if '.' in table else f'raw.{table}'} by name select * from given"
            )
            connection.unregister("given")
        note_phone_numbers(connection, {})
    return path
