"""Expected marts, and the arithmetic of the answers to questions about them."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from support.cells import rate
from support.expected import EXPECTED
from support.mart_inputs import Known
from support.random_rows import Row
from support.story import Chapter

Answer = list[tuple[Any, ...]]
Marts = Callable[[str], list[Row]]


def expected_marts(chapter: Chapter, source: Known) -> Marts:
    """Return the expected rows of a mart, by its name."""

    def rows(name: str) -> list[Row]:
        if name not in EXPECTED:
            return chapter.rows(name)
        width, function = EXPECTED[name]
        columns = chapter.marts[name].columns
        return [
            {**dict(zip(columns, key, strict=False)), **row}
            if isinstance(row, dict)
            else dict(zip(columns, (*key, *row), strict=True))
            for key, row in function(source).items()
            if len(key) == width
        ]

    return rows


def rounded(value: float | None, digits: int) -> float | None:
    """Round as the database does: halves away from zero."""
    return None if value is None else math.floor(value * 10**digits + 0.5) / 10**digits


def grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return groups


def total(rows: Iterable[Row], column: str) -> int | None:
    """Return the sum of the known values; None if there is none."""
    values = [row[column] for row in rows if row[column] is not None]
    return sum(values) if values else None


def share(part: int | None, whole: int | None) -> float | None:
    """Return a rate with three digits; None of nothing."""
    return rounded(rate(part or 0, whole or 0), 3)


def picked(rows: Iterable[Row], *columns: str) -> Answer:
    """Return columns of rows; `value:2` is a column with two digits."""
    return [tuple(_picked(row, *column.split(":")) for column in columns) for row in rows]


def _picked(row: Row, column: str, digits: str = "") -> Any:
    return rounded(row[column], int(digits)) if digits else row[column]
