"""Every mart in plain Python: an independent implementation of the definitions, one function for each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import yaml
from support.cells import cells, same
from support.expected import (
    acts,
    booking,
    booking_requests,
    calls,
    comparisons,
    outreach,
    overview,
    practice,
    rows,
    tasks,
)
from support.mart_inputs import Expected, Known, once_for_each
from vetl.bundled import dbt_project
from vetl.core.published_file import SCHEMAS
from vetl.publishing.marts import table_of

MODULES = (acts, booking, booking_requests, calls, comparisons, outreach, overview, practice, rows, tasks)
DESCRIBED = {"catalogue", "headlines", "metrics", "proof"}
"""Marts about other marts, which have tests of their own."""


@dataclass(frozen=True)
class Mart:
    """A mart as it was built: the names of its columns, and its rows with times in UTC."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def mart_of(warehouse: Path, name: str) -> Mart:
    with duckdb.connect(warehouse, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        cursor = connection.execute(f"select * from {table_of(name)}")
        return Mart(tuple(column[0] for column in cursor.description or ()), cursor.fetchall())


def _definition_of(mart: str) -> Callable[[Known], Expected]:
    [function] = {getattr(module, mart) for module in MODULES if hasattr(module, mart)}
    return once_for_each(function)


def _widths() -> dict[str, int]:
    """Return the number of columns that identify a row of each mart (`config: meta: {grain: a, b}`)."""
    files = [file for schema in SCHEMAS for file in (dbt_project() / "models" / schema).rglob("*.yml")]
    models = [model for file in files for model in yaml.safe_load(file.read_text("utf-8")).get("models", ())]
    return {model["name"]: len(model["config"]["meta"]["grain"].split(", ")) for model in models}


EXPECTED = {mart: (width, _definition_of(mart)) for mart, width in _widths().items() if mart not in DESCRIBED}
"""The width of a mart's grain, which its first columns are, and its definition: the function of its name.

Many questions use one mart, so each is computed once.
"""


def assert_mart_is_true(name: str, mart: Mart, source: Known) -> None:
    """Assert that a mart has exactly the expected cells, rows and columns."""
    width, function = EXPECTED[name]
    names = mart.columns[width:]
    expected = {key: named(row, names) for key, row in function(source).items()}
    actual = {key: dict(zip(names, row, strict=True)) for key, row in cells(mart.rows, width).items()}
    assert all(row.keys() == set(names) for row in expected.values())
    wrong = [f"{key} should be there" for key in expected.keys() - actual.keys()]
    wrong += [f"{key} should not be there" for key in actual.keys() - expected.keys()]
    wrong += [
        f"{column} of {key} is {actual[key][column]!r}, should be {should!r}"
        for key in expected.keys() & actual.keys()
        for column, should in expected[key].items()
        if not same(should, actual[key][column])
    ]
    assert not wrong, "\n".join(sorted(wrong)[:10])


def named(row: tuple[Any, ...] | Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any]:
    return row if isinstance(row, Mapping) else dict(zip(names, row, strict=True))
