"""Tools of the marts' tests: the rows of a group, and two tables compared cell by cell."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from statistics import median
from typing import Any

from support.random_rows import Row

Query = Callable[[str], list[tuple[Any, ...]]]
Cells = dict[tuple[Any, ...], tuple[Any, ...]]


def groups(rows: Iterable[Row], day: Callable[[Row], date | None], *columns: str) -> dict[Any, list[Row]]:
    """Return rows that the source still has, by practice, day and columns, an empty string being null."""
    grouped: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        if row["_deleted_at"] is None:
            grouped[row["practice_id"], day(row), *(row[column] or None for column in columns)].append(row)
    return grouped


def hours(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else (end - start) / timedelta(hours=1)


def rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def median_of(values: Iterable[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return median(numbers) if numbers else None


def count(rows: Iterable[Row], condition: Callable[[Row], Any]) -> int:
    return sum(1 for row in rows if condition(row))


def cells(rows: list[tuple[Any, ...]], key_width: int) -> Cells:
    by_key = {row[:key_width]: row[key_width:] for row in rows}
    assert len(rows) == len(by_key), "a key occurs twice"
    return by_key


def same(expected: object, actual: object) -> bool:
    """Compare floats except for their last bits, which engines may round differently; other values exactly."""
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=1e-12, abs_tol=1e-9)
    return expected == actual


def assert_equal(expected: Cells, actual: Cells) -> None:
    assert expected.keys() == actual.keys()
    different = {
        key: (row, actual[key])
        for key, row in expected.items()
        if not all(same(*pair) for pair in zip(row, actual[key], strict=True))
    }
    assert different == {}
