"""The lines about what a figure rests on: one for each reason, however many lists and practices it applies to."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipelines.loading.published.figures.evidence import Evidence, doubts_of
from pipelines.loading.published.query import QueryResult

NOW = datetime(2026, 2, 1, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(days=9)


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
        ({"certified_through": None}, "a phone_calls: no certificate yet"),
        (
            {"certified_through": LONG_AGO},
            "a phone_calls: stale: certified only through 2026-01-23, though synced on 2026-02-01",
        ),
        (
            {"as_of": LONG_AGO, "certified_through": LONG_AGO},
            "a phone_calls: stale: last synced on 2026-01-23, other practices on 2026-02-01",
        ),
        ({"quarantined_rows": 1200}, "a phone_calls: 1,200 rows in quarantine are not counted"),
        (
            {"last_reconcile_at": None},
            "a phone_calls: not reconciled yet, so late changes may be unseen; vetl reconcile reads them",
        ),
    ],
)
def test_each_reason_to_doubt_is_named(changes: dict[str, Any], line: str | None) -> None:
    assert doubts_of(newest, [evidence("a", **changes), evidence("b")]) == ([line] if line else [])


def test_a_reason_of_many_lists_and_practices_is_one_line() -> None:
    lists = [
        evidence(practice, endpoint, last_reconcile_at=None)
        for practice in "abcde"
        for endpoint in ("appointments", "phone_calls")
    ]

    unseen = "not reconciled yet, so late changes may be unseen; vetl reconcile reads them"

    assert doubts_of(newest, [*lists, evidence("f", last_reconcile_at=None)]) == [
        f"a, b, c and 2 more appointments, phone_calls: {unseen}",
        f"f phone_calls: {unseen}",
    ]
