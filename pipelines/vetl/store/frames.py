"""Convert decoded JSON rows into typed frames: by column if all rows fit, row by row if one does not.

A row that does not fit its model goes to `bad`, with a reason that names fields and never values. All other rows
are kept.
"""

from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any

import polars as pl
from pydantic import BaseModel, ValidationError

from vetl.core.endpoint import Column, Kind, is_exact
from vetl.core.errors import BadRecord
from vetl.core.pages import Row
from vetl.core.zones import parse
from vetl.store import instants
from vetl.store.control.bad_rows import LONG_ROW, BadRow
from vetl.store.tables import canonical_json

_INTEGER_LIMIT = 2**31


def validated(row: object, shape: "Shape") -> dict[str, Any]:
    """Return the values of the columns in the types of a typed frame, and the undeclared fields.

    Raise `BadRecord` if the row does not fit; the message names the fields and their faults.
    """
    if not isinstance(row, Mapping):
        raise BadRecord("not an object")
    try:
        model = shape.record.model_validate(_prepared(row, shape.columns))
    except ValidationError as error:
        raise BadRecord(_reason(error)) from None
    except (OverflowError, RecursionError):
        raise BadRecord("a value is out of range") from None
    try:
        extra = extra_of(row, shape.fields.keys())
    except (ValueError, RecursionError):
        raise BadRecord("an unknown field is not JSON") from None
    values = {column.name: _fitting(column, getattr(model, column.name)) for column in shape.columns}
    for name in shape.key:
        if values[name] in (None, ""):
            raise BadRecord(f"{name}: missing")
    return {**values, EXTRA: extra}


def extra_of(row: Mapping[str, Any], declared: AbstractSet[str]) -> str | None:
    """Return the undeclared fields of a row as JSON, or `None`; raise `ValueError` if they are not JSON."""
    if row.keys() <= declared:
        return None
    return canonical_json({name: row[name] for name in row.keys() - declared})


def _prepared(row: Mapping[str, Any], columns: Sequence[Column]) -> dict[str, Any]:
    """Parse instants in forms of ISO 8601 that the model does not read; the model refuses other texts.

    An empty text is no value, except in a column of texts: some servers write it for null.
    """
    prepared = dict(row)
    for column in columns:
        value = prepared.get(column.name)
        if value == "" and column.kind is not Kind.TEXT:
            prepared[column.name] = None
        elif column.kind is Kind.INSTANT and isinstance(value, str):
            prepared[column.name] = parse(value) or value
    return prepared


def _fitting(column: Column, value: object) -> object:
    """Return the value as a frame stores it; some values pass the model but fit no column."""
    match column.kind, value:
        case (_, None):
            return None
        case Kind.JSON, _:
            return _encodable(column, value, canonical_json)
        case Kind.TEXT, str():
            return _encodable(column, value, str)
        case Kind.INTEGER, int() if not -_INTEGER_LIMIT <= value < _INTEGER_LIMIT:
            raise BadRecord(f"{column.name}: out of range")
        case _:
            return value


def _encodable(column: Column, value: object, text: Callable[[object], str]) -> str:
    try:
        written = text(value)
        written.encode()
    except (ValueError, RecursionError):
        raise BadRecord(f"{column.name}: cannot be written in UTF-8") from None
    return written


def _reason(error: ValidationError) -> str:
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    lines = (f"{item['loc'][0] if item['loc'] else 'row'}: {_in_words(item['type'])}" for item in problems)
    return "; ".join(dict.fromkeys(lines))


def _in_words(kind: str) -> str:
    """Return e.g. `datetime expected` for `datetime_type`; pydantic's own messages may quote values."""
    if kind == "value_error":
        return "impossible value"
    expected = kind.partition("_")[0]
    return f"{expected} expected" if kind.endswith(("_type", "_parsing")) else kind.replace("_", " ")


POSITION = "_position"
EXTRA = "_extra"

USUAL_ROW, LONG_ROWS = 4 * 1024, 256 * 1024
"""Bytes of a row, and of the rows longer than `LONG_ROW` that one save may have if its rows have more than
`USUAL_ROW` on average; most have 600. If many rows are long, they take more than DuckDB's memory, and a checkpoint
that fails ends the sync of all lists."""

TOO_LONG = f"row: too long; a page may have {LONG_ROWS // 1024} KiB of rows longer than {LONG_ROW // 1024} KiB"

_LONGEST_NAME = 200
"""Characters of an undeclared field's name that are reported."""

_FEW = 64
"""Rows up to which a failing batch is read row by row; a larger batch is halved first."""

_DTYPES: dict[Kind, Any] = {
    Kind.TEXT: pl.String(),
    Kind.INSTANT: instants.INSTANT,
    Kind.LOCAL: pl.Datetime("us"),
    Kind.DATE: pl.Date(),
    Kind.BOOLEAN: pl.Boolean(),
    Kind.INTEGER: pl.Int32(),
    Kind.JSON: pl.String(),
}


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a raw table, their key and their model."""

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    record: type[BaseModel]

    @property
    def schema(self) -> dict[str, Any]:
        """Return the polars types of a typed frame: the columns, `_extra` and the position among the rows."""
        return {**self.fields, EXTRA: pl.String(), POSITION: pl.Int64()}

    @property
    def fields(self) -> dict[str, Any]:
        """Return the polars types of the columns alone."""
        return {column.name: _DTYPES[column.kind] for column in self.columns}


@dataclass(frozen=True, slots=True)
class Typed:
    """A batch of rows: rows that fit as a frame, and `bad` rows.

    `new_fields` are undeclared fields, each with the practice whose rows have it. The length counts all rows that
    were read, bad rows included.
    """

    frame: pl.DataFrame
    bad: tuple[BadRow, ...]
    new_fields: frozenset[tuple[str, str]]
    rows: int

    def __len__(self) -> int:
        return self.rows

    def at(self, places: Sequence[int]) -> "Typed":
        """Return the batch with these positions among the rows of a larger batch."""
        moved = pl.Series(POSITION, places, dtype=pl.Int64).gather(self.frame[POSITION])
        return replace(self, frame=self.frame.with_columns(moved))


def joined(batches: Sequence[Typed]) -> Typed:
    """Concatenate one or more batches."""
    return Typed(
        pl.concat([batch.frame for batch in batches], rechunk=True),
        tuple(row for batch in batches for row in batch.bad),
        frozenset(field for batch in batches for field in batch.new_fields),
        sum(map(len, batches)),
    )


class _Unfit(Exception):
    """A column holds a value that only the model can judge."""


_MISFITS = (_Unfit, TypeError, ValueError, AttributeError, OverflowError, pl.exceptions.PolarsError)
"""What polars and Python raise for a value that does not fit its column."""


def with_constant(frame: pl.DataFrame, name: str, value: object, dtype: pl.DataType) -> pl.DataFrame:
    """Add a column with one value. `with_columns` takes up to 0.4 ms, which adds up over many small pages."""
    return frame.hstack([pl.Series(name, [value], dtype).new_from_index(0, frame.height)])


def too_long(frame: pl.DataFrame) -> pl.Series | None:
    """Return for each row whether `LONG_ROWS` do not allow it; `None` if they allow all rows."""
    if frame.estimated_size() <= USUAL_ROW * frame.height:
        return None  # the lengths of all texts take 4 % of the CPU of a first sync
    lengths = [texts.str.len_bytes() for texts in frame.iter_columns() if texts.dtype == pl.String]
    length = pl.DataFrame(lengths).sum_horizontal()
    may_be_taken = (length > LONG_ROW) & (length <= LONG_ROWS)
    taken = (length * may_be_taken).cum_sum()
    refused = (length > LONG_ROWS) | (may_be_taken & (taken > LONG_ROWS))
    return refused if refused.any() else None


def typed(rows: Sequence[Row], shape: Shape, practices: Sequence[str], *, of_any_length: bool = False) -> Typed:
    """Read rows into the columns of `shape`; `practices` holds the practice of each row.

    Unknown fields go to `_extra` as JSON. A value that does not fit makes its row bad, never null. So do more
    bytes than `LONG_ROWS` allow, unless rows are `of_any_length`.
    """
    bad: dict[int, BadRow] = {}
    frames = _frames(rows, 0, shape, bad)
    declared = shape.fields.keys()
    frame = pl.concat([pl.DataFrame(schema=shape.schema), *frames])
    if not of_any_length and (long := too_long(frame)) is not None:
        bad |= {place: BadRow.of(rows[place], shape.key, TOO_LONG).kept for place in frame.filter(long)[POSITION]}
        frame = frame.filter(~long)
    owners = pl.Series("practice_id", practices, dtype=pl.String)
    places = [*frame.filter(pl.col(EXTRA).is_not_null())[POSITION], *bad]
    more = ((practices[place], rows[place]) for place in places if hasattr(rows[place], "keys"))
    return Typed(
        frame.with_columns(owners.gather(frame[POSITION])),
        tuple(replace(row, practice_id=practices[place]) for place, row in bad.items()),
        frozenset((owner, name[:_LONGEST_NAME]) for owner, row in more for name in row if name not in declared),
        len(rows),
    )


def _frames(rows: Sequence[Row], offset: int, shape: Shape, bad: dict[int, BadRow]) -> list[pl.DataFrame]:
    try:
        return [_whole(rows, offset, shape)]
    except _MISFITS:
        # The model then finds the row and the reason.
        if len(rows) <= _FEW:
            return [_row_by_row(rows, offset, shape, bad)]
    half = len(rows) // 2
    return [*_frames(rows[:half], offset, shape, bad), *_frames(rows[half:], offset + half, shape, bad)]


def _whole(rows: Sequence[Row], offset: int, shape: Shape) -> pl.DataFrame:
    names = [column.name for column in shape.columns]
    columns, nothing_more = _by_column(rows, names)
    pairs = zip(shape.columns, columns, strict=True)
    frame = pl.DataFrame([_series(column.kind, values).alias(column.name) for column, values in pairs])
    for name in shape.key:
        if frame[name].null_count() or (frame[name].dtype == pl.String and (frame[name] == "").any()):
            raise _Unfit
    declared = frozenset(names)
    extra = [None if nothing_more else extra_of(row, declared) for row in rows]
    return frame.with_columns(
        pl.Series(EXTRA, extra, dtype=pl.String),
        pl.Series(POSITION, range(offset, offset + len(rows)), dtype=pl.Int64),
    )


def _by_column(rows: Sequence[Row], names: Sequence[str]) -> tuple[list[tuple[Any, ...]], bool]:
    """Return the values of each column (`None` if a row lacks the field), and whether no row has another field."""
    try:  # which takes a third less time than one value at a time
        columns = list(zip(*map(itemgetter(*names), rows), strict=True))
    except KeyError:
        return [tuple(row.get(name) for row in rows) for name in names], False
    return columns, set(map(len, rows)) == {len(names)}


def _row_by_row(rows: Sequence[Row], offset: int, shape: Shape, bad: dict[int, BadRow]) -> pl.DataFrame:
    good: dict[int, dict[str, Any]] = {}
    for index, row in enumerate(rows):
        try:
            good[offset + index] = validated(row, shape)
        except BadRecord as error:
            bad[offset + index] = BadRow.of(row, shape.key, str(error))
    frame = pl.DataFrame(list(good.values()), schema={**shape.fields, EXTRA: pl.String()}, orient="row")
    return frame.with_columns(pl.Series(POSITION, list(good), dtype=pl.Int64))


def _series(kind: Kind, values: Sequence[Any]) -> pl.Series:
    read = _READERS[kind]
    try:
        return read(values)
    except _MISFITS:
        if kind is Kind.TEXT or "" not in values:
            raise
        return read([None if value == "" else value for value in values])


def _texts(values: Sequence[Any]) -> pl.Series:
    try:
        return pl.Series(values, dtype=pl.String, strict=True)
    except TypeError:
        # Ids may come as numbers: an appointment's is one in one answer and text in another.
        texts = [str(value) if type(value) in (int, float) and is_exact(value) else value for value in values]
        return pl.Series(texts, dtype=pl.String, strict=True)


def _instants(values: Sequence[Any]) -> pl.Series:
    texts = pl.Series(values, dtype=pl.String, strict=True)
    parsed = instants.parse_column(texts)
    if parsed.null_count() > texts.null_count():
        raise _Unfit
    return parsed


def _jsons(values: Sequence[Any]) -> pl.Series:
    if not all(value is None or isinstance(value, list | dict) for value in values):
        raise _Unfit
    return pl.Series([None if value is None else canonical_json(value) for value in values], dtype=pl.String)


def _by_the_model_only(_values: Sequence[Any]) -> pl.Series:
    raise _Unfit


_READERS: dict[Kind, Callable[[Sequence[Any]], pl.Series]] = {
    Kind.TEXT: _texts,
    Kind.INSTANT: _instants,
    Kind.LOCAL: _by_the_model_only,
    Kind.DATE: _by_the_model_only,
    Kind.BOOLEAN: partial(pl.Series, dtype=pl.Boolean(), strict=True),
    Kind.INTEGER: partial(pl.Series, dtype=pl.Int32(), strict=True),
    Kind.JSON: _jsons,
}
