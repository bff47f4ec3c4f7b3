"""Rows that are got one by one, by their ids."""

from collections.abc import Generator, Sequence
from datetime import datetime
from typing import Any

from pipelines.steps import GetRecords, MergeRows, MissingRecords, Step


def get_by_id(ids: Sequence[str], read_at: datetime) -> Generator[Step, Any, None]:
    """Get rows one by one and merge them; remember those that the source does not have."""
    if not ids:
        return
    found = yield GetRecords(ids)
    rows = [row for row in found.values() if row is not None]
    yield MergeRows(rows, read_at)
    missing = [identity for identity, row in found.items() if row is None]
    if missing:
        yield MissingRecords(missing, read_at)
