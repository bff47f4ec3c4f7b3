"""Any JSON value in any field of any list: the row is stored or quarantined, and its list is read to the end."""

from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest
from support.lying_proxy import lying
from support.sandbox_settings import at

Opened = Callable[..., Any]

VALUES: tuple[Any, ...] = (
    "0001-01-01T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00",
    "0001-01-01",
    {"a": {"b": [1]}},
    {},
    ["x", None, 1.5],
    -1.5,
    10**40,
    True,
    None,
    "",
    "\0 \ud83d \u202e '); drop table raw.clients --",
)
"""Times at the ends of the calendar, and every kind of JSON value."""


def spoils(seed: int, *, ids: bool) -> Callable[[dict[str, Any]], None]:
    """Return a function that puts a value into one field of every second row, each time into another field."""

    def spoil(row: dict[str, Any]) -> None:
        number = crc32(f"{seed} {row.get('id')}".encode())
        names = ["id"] if ids else sorted(set(row) - {"id"})
        if number % (10 if ids else 2) == 0 and names:
            row[names[number // 10 % len(names)]] = VALUES[number // 1000 % len(VALUES)]

    return spoil


@pytest.mark.parametrize("ids", [False, True], ids=["fields", "ids"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_value_of_any_kind_costs_its_row_only(opened: Opened, seed: int, *, ids: bool) -> None:
    """The second sync reads all of history again, over stored rows."""
    practices = opened(practices=1, calls=150, days=9)

    with lying(practices.platform.base_url, spoiled=spoils(seed, ids=ids)) as base_url:
        practices.settings = at(practices.settings, base_url)
        first, second = practices.sync(), practices.sync(reconcile="full")

    for result in (first, second):
        assert [(item.endpoint, item.reason) for item in result.results if item.state == "failed"] == []
        assert result.exit_code == 3
        assert sum(item.held for item in result.results) > 0
        assert sum(item.rows for item in result.results) > 100
