"""The warehouse file: opened, locked, damaged, migrated; and commits that are all or nothing."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import create_model
from support.warehouse_with_rows import HARBOR, START, Filled, call_line, call_record

from pipelines.core.endpoint import Endpoint, UpdatedWindows
from pipelines.core.errors import ConfigurationError
from pipelines.core.pages import Certificate, Changes, Window
from pipelines.core.records import Record, Text
from pipelines.core.steps import (
    Learnt,
    MergeRows,
    MissingRecords,
    MoveCursor,
)
from pipelines.endpoints import REGISTRY, by_name
from pipelines.loading import store
from pipelines.loading.control.list_status import list_status_of
from pipelines.loading.control.snapshot import snapshot_path
from pipelines.loading.warehouse import Warehouse

CLIENTS = by_name("clients")


def opened(path: Path, seconds: float = 0, **options: Any) -> Warehouse:
    return Warehouse.open(path, REGISTRY, lock_wait_seconds=seconds, **options)


def certificate(**given: Any) -> Certificate:
    usual: dict[str, Any] = {
        "window": Window(START, date(2025, 6, 2)),
        "kind": "closed",
        "total_first": 1,
        "total_last": 1,
        "rows": 1,
        "distinct_ids": 1,
        "requests": 1,
        "retries": 0,
        "certified": True,
        "reason": "ids equal the total",
        "started": START,
        "finished": START,
    }
    return Certificate(**{**usual, **given})


def toy(**fields: Any) -> Endpoint:
    model = create_model("Toy", __base__=Record, id=(Text, ...), name=(Text | None, None), **fields)
    return Endpoint("toys", "toys", model, UpdatedWindows(), "toys")


def test_a_field_that_the_contract_learns_is_taken_out_of_extra_and_changes_no_row(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    row = {"id": 1, "name": "ball", "price": 3, "made_at": "2025-01-01", "tags": ["red"], "more": True}
    filled = Filled(path, [toy()])
    filled.merge(toy(), {**row, "name": "bell"})
    filled.merge(toy(), row)
    filled.warehouse.close()
    grown = toy(price=(int | None, None), made_at=(date | None, None), tags=(list[Any] | None, None))

    filled = Filled(path, [grown])

    for table in ("raw", "history"):
        assert filled.rows(f"select price, made_at, tags, _extra from {table}.toys") == [
            (3, date(2025, 1, 1), '["red"]', '{"more":true}')
        ]
    assert filled.merge(grown, row) == Changes(unchanged=1)
    filled.warehouse.close()


def test_a_commit_that_fails_leaves_nothing_half(filled: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.merge("booking_sessions", {"id": "a", "stage": "old"})
    before = {name: filled.rows(f"from {name}") for name in TABLES}

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(store, "keep_cursors", fail)
    with pytest.raises(KeyboardInterrupt):
        filled.commit(
            "booking_sessions",
            MergeRows([{"id": "a", "stage": "new"}, {"id": "b"}, {"id": None}], START, certificate=certificate()),
            MoveCursor({"through": "later"}),
        )

    assert {name: filled.rows(f"from {name}") for name in TABLES} == before
    monkeypatch.undo()
    assert filled.merge("booking_sessions", {"id": "a", "stage": "new"}) == Changes(updated=1)


TABLES = (
    "raw.booking_sessions",
    "history.booking_sessions",
    "control.windows",
    "control.cursors",
    "control.quarantine",
    "control.changes",
)


def test_a_failing_statement_does_not_hide_behind_the_rollback(filled: Filled) -> None:
    filled.connection.execute("drop table history.booking_sessions")
    filled.merge("booking_sessions", {"id": "a", "stage": "old"})

    with pytest.raises(duckdb.CatalogException):
        filled.merge("booking_sessions", {"id": "a", "stage": "new"})

    assert filled.rows("select stage from raw.booking_sessions") == [("old",)]


def test_a_practice_that_was_never_set_is_refused(filled: Filled) -> None:
    with pytest.raises(ConfigurationError, match="practice p9 is not configured"):
        filled.warehouse.commit("run", "p9", CLIENTS, [])


def test_certificates_cursor_and_learnt_facts_are_loaded_again(filled: Filled) -> None:
    filled.commit(
        "clients",
        MergeRows([{"id": "a"}], START, certificate=certificate()),
        MissingRecords(
            [], START, certificate=certificate(window=Window(status="pending"), certified=False, reason="moved")
        ),
        MoveCursor({"through": "2025-06-01"}),
        Learnt("page_base", 1, "page 0 was refused"),
        Learnt("names", {"start": "from"}, "tried"),
    )
    filled.commit("clients", MoveCursor({"through": "2025-06-02"}), Learnt("page_base", 0, "page 0 came"))

    assert filled.warehouse.cursor("p1", "clients") == {"through": "2025-06-02"}
    assert filled.warehouse.cursor("p1", "patients") is None
    assert filled.warehouse.capabilities("p1", "clients") == {"page_base": 0, "names": {"start": "from"}}
    assert filled.rows(
        "select window_start, window_end, status, certified, reason from control.windows order by certified desc"
    ) == [
        ("2025-06-01T00:00:00Z", "2025-06-02", None, True, "ids equal the total"),
        (None, None, "pending", False, "moved"),
    ]


def test_a_corrected_time_zone_moves_instants_and_drops_details_that_contradict_it(filled: Filled) -> None:
    filled.replace_days(call_line(), call_line("2025-05-01 11:00", phone_number="+1"))
    filled.attach(call_record("right", "2025-05-01T14:00:10Z"))
    filled.replace_days(call_line(summary="changed"), call_line("2025-05-01 11:00", phone_number="+1"))
    hashes = filled.rows("select _row_hash, call_key from raw.phone_calls order by all")

    filled.warehouse.set_practices([replace(HARBOR, time_zone="America/Chicago")])

    shown = "select called_at::varchar, id from {}.phone_calls order by 1"
    assert filled.rows(shown.format("raw")) == [("2025-05-01 15:00:00+00", None), ("2025-05-01 16:00:00+00", None)]
    assert filled.rows(shown.format("history")) == [("2025-05-01 15:00:00+00", None)]
    assert filled.rows("select _row_hash, call_key from raw.phone_calls order by all") == hashes
    assert filled.attach(call_record("right", "2025-05-01T15:00:10Z", summary="changed")) == Changes()
    assert filled.rows("select id from raw.phone_calls where id is not null") == [("right",)]


def test_the_snapshot_beside_the_file_has_the_status_of_every_list(filled: Filled) -> None:
    filled.commit(
        "booking_sessions",
        MergeRows([{"id": "a", "mood": "good"}, {"id": None}], START, certificate=certificate()),
        MoveCursor({"through": "x"}),
    )

    lists = json.loads(snapshot_path(filled.path).read_text())["lists"]

    assert [list_status_of(item) for item in lists] == filled.warehouse.status()
    assert [item["endpoint"] for item in lists] == [endpoint.name for endpoint in REGISTRY]
    assert lists[1] == {
        "practice_id": "p1",
        "practice": "Harbor",
        "endpoint": "booking_sessions",
        "state": "partly read",
        "rows": 1,
        "open": 0,
        "certified_through": "x",
        "attempt": None,
        "last_read": "2025-06-01T00:00:00Z",
        "certificate": {
            "start": "2025-06-01T00:00:00Z",
            "end": "2025-06-02",
            "certified": True,
            "reason": "ids equal the total",
            "finished": "2025-06-01T00:00:00Z",
        },
        "cursor": {"through": "x"},
        "quarantined": 1,
        "acknowledged": 0,
        "restated": 0,
        "last_restated": None,
        "last_reconcile": None,
        "drift": ["new_field: mood"],
    }
    assert {item["rows"] for item in lists} == {0, 1}


def test_a_duckdb_that_hashes_otherwise_makes_no_row_look_changed(tmp_path: Path) -> None:
    """`_row_hash` is DuckDB's own hash: if another version wrote the file, the hashes are computed again."""
    path = tmp_path / "vetl.duckdb"
    ann = MergeRows([{"id": "1", "name": "Ann"}], START)
    with opened(path) as warehouse:
        warehouse.set_practices([HARBOR])
        warehouse.commit("run", HARBOR.id, CLIENTS, [ann])
    with duckdb.connect(str(path)) as connection:
        connection.execute("update raw.clients set _row_hash = 0")
        connection.execute("update control.meta set value = 'another' where name = 'row_hash_probe'")

    with opened(path) as warehouse:
        changes = warehouse.commit("run", HARBOR.id, CLIENTS, [ann])

    assert (changes.unchanged, changes.updated) == (1, 0)
