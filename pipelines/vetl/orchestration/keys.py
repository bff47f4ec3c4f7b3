"""The keys of vetl's assets, and the pool of the steps that write."""

import dagster as dg

PUBLISHED = dg.AssetKey(["published", "analytics"])
WRITER_POOL = "warehouse_writer"
"""The pool of steps that write: DuckDB takes one writer. With `concurrency: pools: {granularity: op,
default_limit: 1}` in `dagster.yaml`, runs queue for the pool; without it, the second writer waits
`lock_wait_seconds` for the file."""


def raw_key(table: str) -> dg.AssetKey:
    """Return the key of a raw table, the same as dagster-dbt derives from the dbt source `partner`."""
    return dg.AssetKey(["partner", table])
