"""Staleness of the marts: each change that a build would take in is noticed, and no other."""

import resource
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from support.warehouse_with_rows import HARBOR, Filled
from vetl.core.errors import WarehouseError
from vetl.store.connection import attached
from vetl.store.control import builds
from vetl.store.control.builds import news

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


NEWS: dict[str | None, Callable[[Filled], object]] = {
    None: lambda filled: synced(filled, BOUNDARY - timedelta(seconds=1)),
    "the day ends": lambda filled: synced(filled, BOUNDARY),
    "rows changed": lambda filled: filled.merge("staff_tasks", {"id": "1", "status": "pending"}),
    "practices were set otherwise": lambda filled: filled.warehouse.set_practices([replace(HARBOR, name="New")]),
    "lists were reconciled": lambda filled: synced(filled, CLOCK + timedelta(hours=1), "reconcile"),
    "the marts were not built whole yet": lambda filled: filled.rows(
        "update control.builds set is_complete = false"
    ),
}


@pytest.mark.parametrize("reason", NEWS)
def test_each_change_that_a_build_would_take_in_is_news(filled: Filled, reason: str | None) -> None:
    NEWS[reason](filled)
    filled.warehouse.close()

    assert news(filled.path, "text") == reason


def test_other_definitions_are_news(filled: Filled) -> None:
    filled.warehouse.close()

    assert news(filled.path, "another text") == "they were made by other definitions"


def test_a_warehouse_without_marts_is_news(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "new.duckdb")):
        pass

    assert news(tmp_path / "new.duckdb", "text") == "the marts were not built yet"


SYNCED = {"control.runs", "control.windows", "control.quarantine", "control.restatements"}
BEGINNINGS: dict[str, tuple[str, Callable[[Filled], object], bool, set[str] | None]] = {
    "time passed": ("text", lambda _filled: None, False, SYNCED),
    "rows changed": (
        "text",
        lambda filled: filled.merge("staff_tasks", {"id": "1", "status": "pending"}),
        False,
        SYNCED | {"partner.staff_tasks", "history.staff_tasks", "control.staff_tasks"},
    ),
    "numbers may be new": (
        "text",
        lambda filled: filled.merge("clients", {"id": "1", "phone": "555"}),
        False,
        SYNCED | {"partner.clients", "history.clients", "control.clients", "control.phone_numbers"},
    ),
    "other practices": (
        "text",
        lambda filled: filled.warehouse.set_practices([replace(HARBOR, name="New")]),
        False,
        None,
    ),
    "the last one was not whole": (
        "text",
        lambda filled: filled.rows("update control.builds set is_complete = false"),
        False,
        None,
    ),
    "other definitions": ("another", lambda _filled: None, True, None),
    "somebody was forgotten": (
        "text",
        lambda filled: filled.rows("update control.builds set fingerprint = ''"),
        True,
        None,
    ),
}


@pytest.mark.parametrize("case", BEGINNINGS)
def test_a_build_makes_what_hangs_on_changed_sources(filled: Filled, case: str) -> None:
    text, change, is_full, changed = BEGINNINGS[case]
    change(filled)

    with filled.warehouse.writing() as connection:
        assert builds.begin(connection, text, full_refresh=False) == (is_full, changed)
    filled.warehouse.close()
    assert news(filled.path, text) == "the marts were not built whole yet"

    with attached(filled.path, lock_wait_seconds=0) as connection:
        builds.finish(connection, text, is_full=is_full)
    assert news(filled.path, text) is None


def test_a_model_made_with_other_definitions_leads_to_a_build_in_full(filled: Filled) -> None:
    filled.warehouse.close()
    with attached(filled.path, lock_wait_seconds=0) as connection:
        builds.doubt(connection, "text")
    assert news(filled.path, "text") is None

    with attached(filled.path, lock_wait_seconds=0) as connection:
        builds.doubt(connection, "another")
    assert news(filled.path, "text") == "the marts were not built whole yet"


def test_a_disk_that_is_full_as_a_build_ends_is_one_line_and_the_next_build_is_recorded(filled: Filled) -> None:
    with filled.warehouse.writing() as connection:
        builds.begin(connection, "text", full_refresh=False)
    filled.warehouse.close()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with (
            pytest.raises(WarehouseError, match="make room and run it again"),
            attached(filled.path, lock_wait_seconds=0) as connection,
        ):
            builds.finish(connection, "text", is_full=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert news(filled.path, "text") == "the marts were not built whole yet"
    with attached(filled.path, lock_wait_seconds=0) as connection:
        builds.finish(connection, "text", is_full=False)
    assert news(filled.path, "text") is None
