"""Parse the texts of phone-call pages: minutes, labels, Yes/No, m:ss (contract: CSV response).

Most columns hold few distinct texts, so each distinct text is parsed once and the rows look it up.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from vetl.partner.calls_csv import COLUMNS, DURATION_PATTERN, YES_NO, Cell, unhumanise
from vetl.store.control.bad_rows import BadRow, content_key
from vetl.store.frames import EXTRA, Typed, with_constant
from vetl.store.phone_calls.csv_frames import HEADERS, CallTexts, minutes
from vetl.store.validation import canonical_json

MINUTE = pl.Datetime("us")

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


def as_csv_shows(records: pl.DataFrame) -> pl.DataFrame:
    """Return typed JSON records with the values that the CSV has for them, without the Date.

    An empty text is null in the CSV, and a label is lower case with underscores after parsing.
    """
    rendered: list[pl.Series] = []
    for column in COLUMNS:
        values = records[column.json]
        if column.cell in (Cell.TEXT, Cell.LABEL):
            values, _ = _READERS[column.cell](values)
        if column.cell is not Cell.MINUTE:
            rendered.append(values.alias(column.raw))
    return pl.DataFrame(rendered)


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
    if word and word not in YES_NO:
        raise _Unreadable
    return YES_NO.get(word)


def _seconds(text: str) -> int | None:
    if not text.strip():
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
