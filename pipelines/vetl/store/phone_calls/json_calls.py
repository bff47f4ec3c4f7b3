"""Convert JSON records of calls into the rows of the CSV.

Merge `_extra` of a call: the CSV and the JSON list each have undeclared fields of their own.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import polars as pl

from vetl.core.pages import Row
from vetl.partner.calls_csv import COLUMNS
from vetl.partner.models import PhoneCall
from vetl.store.connection import literal
from vetl.store.context import Commit
from vetl.store.control.bad_rows import BadRow, content_key
from vetl.store.frames import EXTRA, Shape, Typed, typed
from vetl.store.phone_calls.call_times import local_minutes
from vetl.store.phone_calls.call_values import as_csv_shows
from vetl.store.validation import canonical_json


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


S = TypeVar("S")


def grouped_by_new_fields(
    saves: Sequence[tuple[str, S]], fields_of: Callable[[S], Iterable[str]]
) -> list[tuple[frozenset[str], list[tuple[str, S]]]]:
    """Group saves by the undeclared fields of their practice; most practices have none and form one group."""
    fields: dict[str, frozenset[str]] = {}
    for practice_id, save in saves:
        fields[practice_id] = fields.get(practice_id, frozenset()).union(fields_of(save))
    groups: dict[frozenset[str], list[tuple[str, S]]] = {}
    for practice_id, save in saves:
        groups.setdefault(fields[practice_id], []).append((practice_id, save))
    return list(groups.items())


def merged_extra(stored: pl.Series, fresh: pl.Series, fields: Collection[str]) -> pl.Series:
    """Return `_extra` after a read: `fields` take the values of the read, all other fields stay as stored.

    Both series hold JSON objects as text, or null without undeclared fields.
    """
    if stored.null_count() == len(stored):
        return fresh
    texts = [_merged(before, after, fields) for before, after in zip(stored, fresh, strict=True)]
    return pl.Series(fresh.name, texts, dtype=pl.String)


def _merged(stored: str | None, fresh: str | None, fields: Collection[str]) -> str | None:
    if stored is None:
        return fresh
    remaining = {name: value for name, value in json.loads(stored).items() if name not in fields}
    whole = {**remaining, **(json.loads(fresh) if fresh else {})}
    return canonical_json(whole) if whole else None


def extra_digest(fields: Collection[str]) -> str:
    """Return SQL for a number that differs if `_extra` differs in one of these fields."""
    if not fields:
        return "0::hugeint"
    values = ", ".join(f"json_extract_string({EXTRA}, {literal(_path(name))})" for name in sorted(fields))
    return f"hash({values})::hugeint"


def _path(name: str) -> str:
    return '$."' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
