"""Parse the texts of phone-call pages, and convert JSON records of calls into the rows of the CSV.

The texts are minutes, labels, Yes/No, m:ss (contract: CSV response). Most columns hold few distinct texts, so each
distinct text is parsed once and the rows look it up.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import polars as pl

from vetl.core.endpoint import columns_of
from vetl.core.pages import Row
from vetl.partner.calls_csv import COLUMNS, DURATION_PATTERN, NO_VALUE, YES_NO, Cell, unhumanise
from vetl.partner.models import PhoneCall
from vetl.store.commit import Commit
from vetl.store.connection import literal
from vetl.store.control.bad_rows import BadRow, content_key
from vetl.store.frames import EXTRA, Shape, Typed, typed, with_constant
from vetl.store.instants import local_minutes
from vetl.store.phone_calls.csv_frames import HEADERS, CallTexts, minutes
from vetl.store.tables import canonical_json

_DURATION = re.compile(DURATION_PATTERN)
_LONGEST_SECONDS = 2**31 - 1


class _Unreadable(Exception):
    """A text cannot be parsed as a value of its column."""


@dataclass(frozen=True, slots=True)
class CallValues:
    """The typed rows of a page in the CSV's order (raw column names, `call_date`, `_extra`). `bad` are misfits."""

    frame: pl.DataFrame
    bad: tuple[BadRow, ...]
    new_fields: frozenset[str]

    def of_practice(self, practice_id: str) -> Typed:
        """Return the rows with their practice."""
        return Typed(
            with_constant(self.frame, "practice_id", practice_id, pl.String()),
            tuple(replace(row, practice_id=practice_id) for row in self.bad),
            frozenset((practice_id, name) for name in self.new_fields),
            self.frame.height + len(self.bad),
        )


def read_values(pages: Sequence[CallTexts | CallValues]) -> list[CallValues]:
    """Parse the texts of all these pages at once; pages that are parsed already stay as they are.

    A row with a text that cannot be parsed goes to `bad`.
    """
    texts = [page for page in pages if isinstance(page, CallTexts)]
    read = iter(_read_texts(texts) if texts else ())
    return [page if isinstance(page, CallValues) else next(read) for page in pages]


def _read_texts(pages: Sequence[CallTexts]) -> Iterator[CallValues]:
    texts = pl.concat([page.frame for page in pages])
    values: list[pl.Series] = []
    misfits: dict[str, pl.Series] = {}
    for column in COLUMNS:
        series, misfit = _READERS[column.cell](texts[column.header])
        values.append(series.alias(column.raw))
        if misfit is not None and misfit.any():
            misfits[column.header] = misfit
    frame = pl.DataFrame([*values, texts[EXTRA]])
    frame = frame.with_columns(call_date=pl.col("called_at_local").dt.date())
    misfit_marks = pl.DataFrame(misfits)
    end = 0
    for page in pages:
        start, end = end, end + page.frame.height
        own, bad = frame[start:end], page.bad
        if misfits:
            is_bad = misfit_marks[start:end].select(pl.any_horizontal(pl.all())).to_series()
            bad += _bad_rows(page.frame.filter(is_bad), misfit_marks[start:end].filter(is_bad), own.filter(is_bad))
            own = own.filter(~is_bad)
        yield CallValues(own, bad, page.new_fields)


def _bad_rows(texts: pl.DataFrame, marks: pl.DataFrame, values: pl.DataFrame) -> tuple[BadRow, ...]:
    rows = zip(texts.rows(named=True), marks.rows(named=True), values["call_date"], strict=True)
    result: list[BadRow] = []
    for row, misfit, day in rows:
        payload = canonical_json({name: row[name] for name in HEADERS})
        reason = "; ".join(f"{name}: not as the contract writes it" for name, is_bad in misfit.items() if is_bad)
        result.append(BadRow(content_key(payload), reason, payload, day, day))
    return tuple(result)


Read = tuple[pl.Series, pl.Series | None]


def _minutes(texts: pl.Series) -> Read:
    values = minutes(texts)
    return values, values.is_null()


def _unchanged(texts: pl.Series) -> Read:
    return texts.set(texts == "", None), None


def _each_once(read: Callable[[str], Any], dtype: pl.DataType) -> Callable[[pl.Series], Read]:
    """Return a reader that parses every distinct text once."""

    def column(texts: pl.Series) -> Read:
        distinct = [text for text in texts.unique() if text is not None]
        values: list[Any] = []
        unreadable: list[str] = []
        for text in distinct:
            try:
                values.append(read(text))
            except _Unreadable:
                values.append(None)
                unreadable.append(text)
        # The physical value of the enum is the index of the parsed value: half the cost of `replace_strict`.
        numbers = texts.cast(pl.Enum(distinct)).to_physical()
        return pl.Series(values, dtype=dtype)[numbers], texts.is_in(unreadable) if unreadable else None

    return column


def _yes_no(text: str) -> bool | None:
    word = text.strip().lower()
    if word not in NO_VALUE and word not in YES_NO:
        raise _Unreadable
    return YES_NO.get(word)


def _seconds(text: str) -> int | None:
    if text.strip().lower() in NO_VALUE:
        return None
    matched = _DURATION.match(text.strip())
    if matched is None:
        raise _Unreadable
    hours, minutes, seconds = (int(part or 0) for part in matched.groups())
    total = hours * 3600 + minutes * 60 + seconds
    if total > _LONGEST_SECONDS:
        raise _Unreadable
    return total


_READERS: dict[Cell, Callable[[pl.Series], Read]] = {
    Cell.MINUTE: _minutes,
    Cell.TEXT: _unchanged,
    Cell.LABEL: _each_once(unhumanise, pl.String()),
    Cell.YES_NO: _each_once(_yes_no, pl.Boolean()),
    Cell.DURATION: _each_once(_seconds, pl.Int32()),
}


SHAPE = Shape(columns_of(PhoneCall), ("id",), PhoneCall)
"""The columns, the key and the model of a record."""


def read_records(commit: Commit, rows: Sequence[Row], practices: Sequence[str]) -> Typed:
    """Parse records into a typed frame with their JSON names; `practices` holds the practice of each record."""
    batch = typed(rows, SHAPE, practices)
    return replace(batch, frame=commit.pseudonyms.in_rows(commit.table, batch.frame))


def as_csv_rows(commit: Commit, records: pl.DataFrame) -> pl.DataFrame:
    """Return the CSV's columns, `practice_id` and `call_date`: one row for each record, in their order.

    An empty text is null in the CSV, and a label is lower case with underscores after parsing.
    """
    shown = [records["practice_id"], local_minutes(records["created_at"], records["practice_id"], commit.zones)]
    for column in COLUMNS:
        values = records[column.json]
        if column.cell in (Cell.TEXT, Cell.LABEL):
            values, _ = _READERS[column.cell](values)
        if column.cell is not Cell.MINUTE:
            shown.append(values.alias(column.raw))
    return pl.DataFrame(shown).with_columns(call_date=pl.col("called_at_local").dt.date())


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
