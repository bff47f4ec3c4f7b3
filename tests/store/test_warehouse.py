"""The warehouse file: opened, locked, damaged, migrated; and commits that are all or nothing."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pydantic import create_model
from support.processes import holding
from support.warehouse_with_rows import HARBOR, START, Filled, call_line, call_record
from vetl.core.endpoint import Endpoint, Record, Text, UpdatedWindows
from vetl.core.errors import WarehouseBusy, WarehouseError
from vetl.core.pages import Certificate, Changes, Window, WindowKind
from vetl.core.steps import MergeRows, MoveCursor
from vetl.endpoints import REGISTRY, by_name
from vetl.store import saving
from vetl.store.connection import as_vetl_errors, as_warehouse_error
from vetl.store.warehouse import Warehouse

CLIENTS = by_name("clients")


def opened(path: Path, seconds: float = 0, **options: Any) -> Warehouse:
    return Warehouse.open(path, REGISTRY, lock_wait_seconds=seconds, **options)


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

    monkeypatch.setattr(saving, "keep_cursors", fail)
    proof = Certificate(Window(), WindowKind.CLOSED, 1, 1, 1, 1, 1, 0, True, "ids equal the total", START, START)
    with pytest.raises(KeyboardInterrupt):
        filled.commit(
            "booking_sessions",
            MergeRows([{"id": "a", "stage": "new"}, {"id": "b"}, {"id": None}], START, certificate=proof),
            MoveCursor({"through": "later"}),
        )

    assert {name: filled.rows(f"from {name}") for name in TABLES} == before
    monkeypatch.undo()
    assert filled.merge("booking_sessions", {"id": "a", "stage": "new"}) == Changes(updated=1)


CONTROL = ("windows", "cursors", "quarantine", "changes")
TABLES = ("raw.booking_sessions", "history.booking_sessions", *(f"control.{name}" for name in CONTROL))


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


HOLD = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
"""Another process has the file open until its input ends."""


def test_a_file_that_stays_held_is_busy_and_its_holder_named(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    waits: list[float] = []
    with (
        holding(HOLD, path) as holder,
        pytest.raises(WarehouseBusy, match=f"vetl.duckdb: process {holder.pid} holds it, after 0.6 s") as busy,
    ):
        opened(path, 0.6, wait=waits.append)
    assert "\n" not in str(busy.value)
    assert sum(waits) == pytest.approx(0.6)


def test_a_file_that_is_let_go_in_time_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    with holding(HOLD, path) as holder:

        def let_go(_: float) -> None:
            holder.communicate("")

        opened(path, 5, wait=let_go).close()

        assert holder.returncode == 0


def test_a_file_held_in_this_process_is_busy_too(filled: Filled) -> None:
    with pytest.raises(WarehouseBusy, match="another connection"):
        opened(filled.path)


def test_rows_that_a_killed_process_spilled_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    opened(path).close()
    spilled = tmp_path / "vetl.duckdb.tmp"
    spilled.mkdir()
    (spilled / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"rows")

    opened(path).close()

    assert not spilled.exists()


@pytest.mark.parametrize("content", [b"no database at all " * 1000, b"x"])
def test_what_is_no_database_is_one_clear_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vetl.duckdb"
    path.write_bytes(content)

    with pytest.raises(WarehouseError, match=r"vetl\.duckdb: cannot be opened: .*not a valid DuckDB") as error:
        opened(path)

    assert "\n" not in str(error.value)
    assert path.read_bytes() == content
    with pytest.raises(WarehouseError, match=r"its folder cannot be made: "):
        opened(path / "vetl.duckdb")
    with pytest.raises(WarehouseError, match="cannot be opened"):
        opened(tmp_path)


FILE = Path("vetl.duckdb")
FULL = ".*; make room and run it again"
OF_A_THREAD = (
    'Async write failed for range [offset=7]: {"exception_type":"IO","exception_message":"Could not write file'
    ' \\"/srv/a.parquet\\": No space left on device","errno":"28"}'
)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (duckdb.IOException("IO Error: Could not write all bytes"), FULL),
        (duckdb.IOException("TransactionContext Error: CHECKPOINT during DETACH failed"), FULL),
        (
            duckdb.IOException(OF_A_THREAD),
            f'Could not write file "/srv/a.parquet": No space left on device{FULL[2:]}',
        ),
        (duckdb.ConversionException("Could not convert string 'Jane Doe'"), "DuckDB refuses a value (.*)"),
    ],
)
def test_a_full_disk_is_reported_with_its_remedy_and_no_value_is_quoted(error: duckdb.Error, line: str) -> None:
    reported = str(as_warehouse_error(error, FILE, "cannot be written"))
    assert re.fullmatch(f"vetl.duckdb: cannot be written: {line}", reported)
    assert "Jane" not in reported


def test_a_fault_in_our_own_sql_is_not_the_warehouse_s() -> None:
    with pytest.raises(duckdb.CatalogException), as_vetl_errors(FILE), duckdb.connect() as connection:
        connection.execute("from nowhere")
