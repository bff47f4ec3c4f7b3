"""Staleness of the marts: each change that a build would take in is noticed, and no other."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from support.warehouse_with_rows import HARBOR, Filled

from pipelines.loading.control.staleness import has_passed, news

CLOCK = datetime(2025, 5, 14, 12, tzinfo=UTC)
BOUNDARY = CLOCK + timedelta(hours=6)


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    """Provide a warehouse after a full build."""
    filled = Filled(tmp_path / "vetl.duckdb")
    synced(filled, CLOCK)
    filled.connection.execute("create schema intermediate")
    filled.connection.execute("create table intermediate.int_time_boundaries (what varchar, next_at timestamptz)")
    filled.connection.execute(
        "insert into intermediate.int_time_boundaries values ('the day ends', ?)", [BOUNDARY]
    )
    filled.connection.execute("delete from control.changes")
    filled.connection.execute(
        "insert into control.builds by name select 'text' as fingerprint, false as is_full, true as is_complete,"
        " $clock as source_clock, 'b1' as build_id,"
        " (select md5(string_agg(practices::varchar, ';' order by id)) from control.practices) as practices",
        {"clock": CLOCK},
    )
    yield filled
    filled.warehouse.close()


def synced(filled: Filled, clock: datetime, command: str = "sync") -> None:
    run = f"{command}-{clock:%d%H%M}"
    filled.warehouse.start_run(run, clock, command)
    filled.warehouse.finish_run(run, source_clock=clock, exit_code=0, summary={})


def reason_to_build(filled: Filled, fingerprint: str = "text") -> str | None:
    """Return the answer that a new process gets after the sync."""
    filled.warehouse.close()
    answer = news(filled.path, fingerprint)
    again = Filled(filled.path)
    filled.warehouse = again.warehouse
    return answer


def test_a_sync_that_brought_nothing_is_no_news(filled: Filled) -> None:
    synced(filled, BOUNDARY - timedelta(seconds=1))

    assert reason_to_build(filled) is None


def test_a_boundary_of_time_is_news(filled: Filled) -> None:
    synced(filled, BOUNDARY)

    assert reason_to_build(filled) == "the day ends"


def test_a_row_is_news(filled: Filled) -> None:
    filled.merge("staff_tasks", {"id": "1", "created_at": CLOCK.isoformat(), "status": "pending"})

    assert reason_to_build(filled) == "rows changed"


def test_other_definitions_are_news(filled: Filled) -> None:
    assert reason_to_build(filled, "another text") == "they were made by other definitions"


def test_a_practice_that_is_set_otherwise_is_news(filled: Filled) -> None:
    filled.warehouse.set_practices([replace(HARBOR, name="Harbour")])

    assert reason_to_build(filled) == "practices were set otherwise"


def test_a_reconcile_is_news(filled: Filled) -> None:
    synced(filled, CLOCK + timedelta(hours=1), "reconcile")

    assert reason_to_build(filled) == "lists were reconciled"


def test_a_build_that_was_not_whole_is_news(filled: Filled) -> None:
    filled.connection.execute("update control.builds set is_complete = false")

    assert reason_to_build(filled) == "the marts were not built whole yet"


def test_a_warehouse_without_marts_is_news(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "new.duckdb")):
        pass

    assert news(tmp_path / "new.duckdb", "text") == "the marts were not built yet"


@pytest.mark.parametrize(
    ("complete", "fingerprint", "passed"), [(True, "text", True), (False, "text", False), (True, "other", False)]
)
def test_only_a_whole_build_of_the_same_text_has_passed(
    filled: Filled, fingerprint: str, *, complete: bool, passed: bool
) -> None:
    filled.connection.execute("update control.builds set is_complete = ?", [complete])
    filled.warehouse.close()

    assert has_passed(filled.path, fingerprint) is passed
    filled.warehouse = Filled(filled.path).warehouse
