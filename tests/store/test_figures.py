"""What a figure rests on: the windows that were read for a day, and a line for each reason to doubt it."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from support.raw_tables import create_warehouse
from vetl.figures.evidence import Evidence, doubts_of, reads_of
from vetl.publishing.statements import QueryResult

WINDOWS = [
    ("2026-01-01", "2026-01-11"),
    ("2026-01-12", "2026-01-12"),
    ("2026-01-13", "2026-01-20"),
    ("2026-01-01T00:00:00Z", "2026-01-11T23:00:00Z"),
    ("2026-01-13T01:00:00Z", "2026-01-20T00:00:00Z"),
    ("2026-01-14T00:00:00Z", None),
]


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = create_warehouse(tmp_path_factory.mktemp("reads") / "vetl.duckdb")
    with duckdb.connect(path) as connection:
        connection.executemany(
            "insert into control.windows values ('a', 'phone_calls', 'run-1', 'closed', ?, ?, null,"
            " 1, 1, 1, 1, 1, 0, true, 'one page is one snapshot', now(), now())",
            WINDOWS,
        )
    return path


def test_days_are_those_of_the_practice_and_instants_reach_into_the_days_beside(private: Path) -> None:
    """A call of 20:00 in Phoenix on the 12th was made at 03:00 UTC on the 13th, but its date is the 12th."""
    found = reads_of(private, ["phone_calls"], "a", date(2026, 1, 12))

    assert sorted((item.window_start, item.window_end) for item in found) == [
        ("2026-01-01T00:00:00Z", "2026-01-11T23:00:00Z"),
        ("2026-01-12", "2026-01-12"),
        ("2026-01-13T01:00:00Z", "2026-01-20T00:00:00Z"),
    ]


NOW = datetime(2026, 2, 1, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=9)
UNSEEN = "not reconciled yet, so late changes may be unseen; vetl reconcile reads them"


def evidence(practice: str, endpoint: str = "phone_calls", **changes: Any) -> Evidence:
    """Return the evidence of a list without any doubt, but for the changes."""
    usual: dict[str, Any] = {
        "as_of": NOW,
        "certified_through": NOW,
        "evidence": None,
        "source_count": None,
        "warehouse_count": 9,
        "quarantined_rows": 0,
        "restated_rows": 0,
        "last_reconcile_at": NOW,
    }
    return Evidence(practice, endpoint, **{**usual, **changes})


def newest(_: str) -> QueryResult:
    return QueryResult(("newest",), [(NOW,)])


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, None),
        ({"certified_through": None}, "no certificate yet"),
        ({"certified_through": LONG_AGO}, "stale: certified only through 2026-01-23, though synced on 2026-02-01"),
        (
            {"as_of": LONG_AGO, "certified_through": LONG_AGO},
            "stale: last synced on 2026-01-23, other practices on 2026-02-01",
        ),
        ({"quarantined_rows": 1200}, "1,200 rows in quarantine are not counted"),
        ({"last_reconcile_at": None}, UNSEEN),
    ],
)
def test_each_reason_to_doubt_is_named(changes: dict[str, Any], line: str | None) -> None:
    expected = [f"a phone_calls: {line}"] if line else []
    assert doubts_of(newest, [evidence("a", **changes), evidence("b")]) == expected


def test_a_reason_of_many_lists_and_practices_is_one_line() -> None:
    pairs = [(practice, endpoint) for practice in "abcde" for endpoint in ("appointments", "phone_calls")]
    lists = [evidence(*pair, last_reconcile_at=None) for pair in pairs]

    assert doubts_of(newest, [*lists, evidence("f", last_reconcile_at=None)]) == [
        f"a, b, c and 2 more appointments, phone_calls: {UNSEEN}",
        f"f phone_calls: {UNSEEN}",
    ]
