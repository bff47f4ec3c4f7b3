"""Convert JSON records of calls into the rows of the CSV."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from vetl.core.pages import Row
from vetl.partner.calls_csv import COLUMNS
from vetl.partner.models import PhoneCall
from vetl.store.context import Commit
from vetl.store.control.quarantine import BadRow, content_key
from vetl.store.frames import EXTRA, Shape, Typed, typed
from vetl.store.phone_calls.times import local_minutes
from vetl.store.phone_calls.values import as_csv_shows
from vetl.store.records import canonical_json


def read_records(commit: Commit, rows: Sequence[Row], practices: Sequence[str]) -> Typed:
    """Parse records into a typed frame with their JSON names; `practices` holds the practice of each record."""
    batch = typed(rows, shape(commit), practices)
    return replace(batch, frame=commit.pseudonyms.in_rows(commit.table, batch.frame))


def shape(commit: Commit) -> Shape:
    """Return the columns, the key and the model of a record."""
    return Shape(replace(commit.table.endpoint, record=PhoneCall).columns(), ("id",), PhoneCall)


def as_csv_rows(commit: Commit, records: pl.DataFrame) -> pl.DataFrame:
    """Return the CSV's columns, `practice_id` and `call_date`: one row for each record, in their order."""
    minutes = local_minutes(records["created_at"], records["practice_id"], commit.zones)
    rows = pl.concat([records.select("practice_id", minutes), as_csv_shows(records)], how="horizontal")
    return rows.with_columns(call_date=pl.col("called_at_local").dt.date())


def as_days(commit: Commit, rows: Sequence[Row], practices: Sequence[str]) -> Typed:
    """Convert records into CSV rows, in order of time, to replace days that were read as JSON.

    `attach_details` gets the same records: it quarantines the ones that do not fit their model, and stores the
    columns that only JSON has. A record without a time belongs to no day and is quarantined here.
    """
    records = read_records(commit, rows, practices).frame
    dated = records.filter(pl.col("created_at").is_not_null()).sort("created_at", "id")
    bad: list[BadRow] = []
    if dated.height < records.height:
        for row, practice_id in zip(rows, practices, strict=True):
            if row.get("created_at") is None:
                payload = canonical_json(row)
                reason = "created_at: missing"
                bad.append(BadRow(content_key(payload), reason, payload, practice_id=practice_id))
    frame = as_csv_rows(commit, dated).with_columns(pl.lit(None, pl.String()).alias(EXTRA))
    columns = [*(column.raw for column in COLUMNS), EXTRA, "call_date", "practice_id"]
    return Typed(frame.select(columns), tuple(bad), frozenset(), len(rows))
