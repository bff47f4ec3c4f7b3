"""The windows that were read for a day."""

from datetime import date
from pathlib import Path

import duckdb
import pytest
from support.raw_tables import create_warehouse

from pipelines.loading.published.figures.reads import reads_of

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
