"""Decoded JSON rows into typed frames: columns at a time where all is well, row by row where it is not.

Rows that do not fit their model are set aside with the reason, and the rest goes on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import polars as pl
from pydantic import BaseModel

from pipelines.core.endpoint import Column, Kind
from pipelines.core.errors import BadRecord
from pipelines.core.pages import Row
from pipelines.loading import instants
from pipelines.loading.control.quarantine import BadRow
from pipelines.loading.records import canonical_json, extra_of, validated

POSITION = "_position"
EXTRA = "_extra"

_FEW = 64
"""Up to this many rows a failing batch is read row by row; a larger one is halved first."""

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
    """What rows are read as: the columns of the raw table, their key and their model."""

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    record: type[BaseModel]

    @property
    def schema(self) -> dict[str, Any]:
        """The polars types of a typed frame: the columns, the unknown fields, the place among the rows."""
        return {**self.fields, EXTRA: pl.String(), POSITION: pl.Int64()}

    @property
    def fields(self) -> dict[str, Any]:
        """The polars types of the columns alone."""
        return {column.name: _DTYPES[column.kind] for column in self.columns}


@dataclass(frozen=True, slots=True)
class Typed:
    """A batch of rows: the good ones as a frame, the bad ones aside.

    `new_fields` are those that nobody declared, each with the practice whose rows have it. Its length is that of
    the rows that were read, bad ones included.
    """

    frame: pl.DataFrame
    bad: tuple[BadRow, ...]
    new_fields: frozenset[tuple[str, str]]
    rows: int

    def __len__(self) -> int:
        return self.rows

    def at(self, places: Sequence[int]) -> "Typed":
        """The same batch among the rows of others, where its rows have these positions."""
        moved = pl.Series(POSITION, places, dtype=pl.Int64).gather(self.frame[POSITION])
        return replace(self, frame=self.frame.with_columns(moved))


def joined(batches: Sequence[Typed]) -> Typed:
    """Several batches, at least one, as one."""
    return Typed(
        pl.concat([batch.frame for batch in batches], rechunk=True),
        tuple(row for batch in batches for row in batch.bad),
        frozenset(field for batch in batches for field in batch.new_fields),
        sum(map(len, batches)),
    )


class _Unfit(Exception):
    """A column holds something that only the model can judge."""


def with_constant(frame: pl.DataFrame, name: str, value: object, dtype: pl.DataType) -> pl.DataFrame:
    """One column more, of one value. `with_columns` takes up to 0.4 ms, which many small pages feel."""
    return frame.hstack([pl.Series(name, [value], dtype).new_from_index(0, frame.height)])


def typed(rows: Sequence[Row], shape: Shape, practices: Sequence[str]) -> Typed:
    """Read rows as `shape` says; `practices` tells whose each is.

    Unknown fields go to `_extra` as JSON; nothing is silently made null.
    """
    bad: dict[int, BadRow] = {}
    frames = _frames(rows, 0, shape, bad)
    declared = shape.fields.keys()
    frame = pl.concat([pl.DataFrame(schema=shape.schema), *frames])
    owners = pl.Series("practice_id", practices, dtype=pl.String)
    places = [*frame.filter(pl.col(EXTRA).is_not_null())[POSITION], *bad]
    more = ((practices[place], rows[place]) for place in places if hasattr(rows[place], "keys"))
    return Typed(
        frame.with_columns(owners.gather(frame[POSITION])),
        tuple(replace(row, practice_id=practices[place]) for place, row in bad.items()),
        frozenset((owner, name) for owner, row in more for name in row if name not in declared),
        len(rows),
    )


def _frames(rows: Sequence[Row], offset: int, shape: Shape, bad: dict[int, BadRow]) -> list[pl.DataFrame]:
    try:
        return [_whole(rows, offset, shape)]
    except (_Unfit, TypeError, ValueError, AttributeError, OverflowError, pl.exceptions.PolarsError):
        # polars and Python name a misfit by any of these; the model finds the row and says why.
        if len(rows) <= _FEW:
            return [_row_by_row(rows, offset, shape, bad)]
    half = len(rows) // 2
    return [*_frames(rows[:half], offset, shape, bad), *_frames(rows[half:], offset + half, shape, bad)]


def _whole(rows: Sequence[Row], offset: int, shape: Shape) -> pl.DataFrame:
    names = [column.name for column in shape.columns]
    columns, nothing_more = _by_column(rows, names)
    frame = pl.DataFrame(
        [
            _READERS[column.kind](values).alias(column.name)
            for column, values in zip(shape.columns, columns, strict=True)
        ]
    )
    for name in shape.key:
        if frame[name].null_count() or (frame[name].dtype == pl.String and (frame[name] == "").any()):
            raise _Unfit
    declared = frozenset(names)
    extra = [None if nothing_more else extra_of(row, declared) for row in rows]
    return _complete(frame, range(offset, offset + len(rows)), extra)


def _by_column(rows: Sequence[Row], names: Sequence[str]) -> tuple[list[tuple[Any, ...]], bool]:
    """The values of each column, `None` where a row has no such field; and whether no row has any other field."""
    try:
        columns = list(zip(*map(itemgetter(*names), rows), strict=True))  # a third less than one value at a time
    except KeyError:
        return [tuple(row.get(name) for row in rows) for name in names], False
    return columns, set(map(len, rows)) == {len(names)}


def _row_by_row(rows: Sequence[Row], offset: int, shape: Shape, bad: dict[int, BadRow]) -> pl.DataFrame:
    good: dict[int, dict[str, Any]] = {}
    extra: list[str | None] = []
    for index, row in enumerate(rows):
        try:
            good[offset + index] = validated(row, shape.columns, shape.key, shape.record)
            extra.append(extra_of(row, shape.fields.keys()))
        except BadRecord as error:
            bad[offset + index] = BadRow.of(row, shape.key, str(error))
    frame = pl.DataFrame(list(good.values()), schema=shape.fields, orient="row")
    return _complete(frame, list(good), extra)


def _complete(frame: pl.DataFrame, places: Sequence[int], extra: list[str | None]) -> pl.DataFrame:
    return frame.with_columns(
        pl.Series(EXTRA, extra, dtype=pl.String), pl.Series(POSITION, places, dtype=pl.Int64)
    )


def _texts(values: Sequence[Any]) -> pl.Series:
    try:
        return pl.Series(values, dtype=pl.String, strict=True)
    except TypeError:
        # Ids may come as numbers: an appointment's is one in one answer and text in another.
        texts = [str(value) if type(value) in (int, float) else value for value in values]
        return pl.Series(texts, dtype=pl.String, strict=True)


def _instants(values: Sequence[Any]) -> pl.Series:
    texts = pl.Series(values, dtype=pl.String, strict=True)
    parsed = instants.parse_column(texts)
    if parsed.null_count() > texts.null_count():
        raise _Unfit
    return parsed


def _plain(dtype: Any) -> Callable[[Sequence[Any]], pl.Series]:  # noqa: ANN401 - a polars type, class or instance
    return lambda values: pl.Series(values, dtype=dtype, strict=True)


def _jsons(values: Sequence[Any]) -> pl.Series:
    if not all(value is None or isinstance(value, list | dict) for value in values):
        raise _Unfit
    return pl.Series([None if value is None else canonical_json(value) for value in values], dtype=pl.String)


def _left_to_the_model(_values: Sequence[Any]) -> pl.Series:
    raise _Unfit


_READERS: dict[Kind, Callable[[Sequence[Any]], pl.Series]] = {
    Kind.TEXT: _texts,
    Kind.INSTANT: _instants,
    Kind.LOCAL: _left_to_the_model,
    Kind.DATE: _left_to_the_model,
    Kind.BOOLEAN: _plain(pl.Boolean()),
    Kind.INTEGER: _plain(pl.Int32()),
    Kind.JSON: _jsons,
}
