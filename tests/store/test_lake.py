"""The lake has complete commits, partition by partition."""

import json
import stat
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from support.lakes import export_until_killed, manifest, rows, storage
from support.warehouse_with_rows import Filled, call_line
from vetl.core.errors import LakeError
from vetl.store.connection import PRIVATE
from vetl.store.lake.export import Exported, export_private
from vetl.store.lake.tables import lake_tables

MAY, JUNE = "2025-05", "2025-06"
AT = "2025-05-03T10:00:00Z"
SESSION = {"id": "s1", "status": "active", "created_at": AT, "updated_at": AT}


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Provide the file of two practices, with calls of two months and one session."""
    path = tmp_path_factory.mktemp("lake") / "vetl.duckdb"
    filled = Filled(path)
    fill(filled)
    filled.another_practice()
    fill(filled)
    filled.warehouse.close()
    return path.read_bytes()


@pytest.fixture
def warehouse(content: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "vetl.duckdb"
    path.write_bytes(content)
    return path


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    return tmp_path / "lake"


def fill(filled: Filled) -> None:
    filled.replace_days(call_line(), call_line("2025-05-01 11:00"))
    filled.replace_days(call_line("2025-06-02 09:00"), first=date(2025, 6, 2), last=date(2025, 6, 2))
    filled.merge("booking_sessions", SESSION)


def change(path: Path, outcome: str = "Voicemail") -> None:
    """Change a call of May at the first practice."""
    filled = Filled(path)
    filled.replace_days(call_line(outcome=outcome), call_line("2025-05-01 11:00"))
    filled.warehouse.close()


def export(path: Path, lake: Path, *, grace: bool = True) -> Exported:
    return export_private(path, storage(lake), lock_wait_seconds=0, grace=grace)


def test_a_lake_has_the_committed_rows_for_its_owner_alone(warehouse: Path, lake: Path) -> None:
    change(warehouse)
    exported = export(warehouse, lake)
    listed = manifest(lake)

    assert (exported.written, exported.files) == (len(listed.files), len(listed.files))
    assert {"raw.phone_calls", "history.phone_calls", "control.windows", "control.practices"} <= set(listed.tables)
    assert "control.meta" not in listed.tables
    modes = {stat.S_IMODE(path.stat().st_mode) for path in lake.rglob("*") if path.is_file()}
    assert (modes, stat.S_IMODE(lake.stat().st_mode)) == ({0o600}, 0o700)
    with duckdb.connect(warehouse, read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        for table in lake_tables(connection, PRIVATE):
            expected = connection.sql(table.select()).to_arrow_table().to_pylist()
            assert rows(lake, listed, table.full_name) == sorted(expected, key=str), table.full_name


def test_the_snippets_of_the_page_read_the_id_of_a_practice_as_text(warehouse: Path, lake: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "lake.md").read_text("utf-8").replace("/data/lake", str(lake))
    with duckdb.connect(warehouse) as connection:
        connection.execute("update raw.phone_calls set practice_id = '1042' where practice_id = 'loc-001'")
        expected = sorted(set(connection.sql("select practice_id from raw.phone_calls").fetchall()))
    export(warehouse, lake)
    sql, python = (page.partition(f"```{language}\n")[2].partition("```")[0] for language in ("sql", "python"))

    with duckdb.connect() as connection:
        by_duckdb = connection.sql(sql.partition(";")[0]) or connection.sql(sql.partition(";")[2])
        assert sorted(set(by_duckdb.project("practice_id").fetchall())) == expected
    names: dict[str, Any] = {"json": json, "Path": Path, "pl": pl}
    exec(python, names)
    assert sorted(set(names["calls"].select("practice_id").collect().rows())) == expected


PLAIN = {"string", "bool", "int32", "int64", "double", "date32[day]", "decimal128(20, 0)", "list<element: string>"}
"""Trino has no unsigned numbers, no times of nanoseconds, and structures are not used."""


def test_each_file_has_the_columns_of_the_manifest_in_types_of_all_engines(warehouse: Path, lake: Path) -> None:
    export(warehouse, lake)
    listed = manifest(lake)

    schemas = {
        name: {str(pq.read_schema(lake / file.path)) for file in listed.files if file.table == name}
        for name in listed.tables
    }
    assert {name: len(distinct) for name, distinct in schemas.items()} == dict.fromkeys(listed.tables, 1)
    first = next(file for file in listed.files if file.table == "raw.phone_calls")
    with duckdb.connect() as connection:
        columns = connection.execute(f"describe from '{lake}/{first.path}'").fetchall()
    assert {name: kind for name, kind, *_ in columns} == listed.tables["raw.phone_calls"].columns
    assert {file.schema_version for file in listed.files if file.table == first.table} == {
        listed.tables[first.table].schema_version
    }
    types = {str(field.type) for path in lake.rglob("*.parquet") for field in pq.read_schema(path)}
    assert types <= PLAIN | {"timestamp[us]", "timestamp[us, tz=UTC]"}


def test_only_partitions_that_changed_are_written(warehouse: Path, lake: Path) -> None:
    export(warehouse, lake)
    before = manifest(lake)
    change(warehouse)
    export(warehouse, lake)
    now = manifest(lake)

    new = {(file.table, *file.partition) for file in now.files if file.path not in before.paths()}
    of_practices = {item for item in new if not item[0].startswith("control.")}
    assert of_practices == {("raw.phone_calls", "p1", MAY), ("history.phone_calls", "p1", MAY)}
    kept = {(file.table, *file.partition) for file in now.files if file.path in before.paths()}
    assert {("raw.phone_calls", "p1", JUNE), ("raw.phone_calls", "p2", MAY)} <= kept
    assert ("raw.booking_sessions", "p1", MAY) in kept


def test_nothing_is_written_if_nothing_changed(warehouse: Path, lake: Path) -> None:
    first = export(warehouse, lake)
    written_at = (lake / "manifest.json").stat().st_mtime_ns
    again = export(warehouse, lake)

    assert (again.export, again.written, again.removed) == (first.export, 0, 0)
    assert (lake / "manifest.json").stat().st_mtime_ns == written_at


def test_a_change_that_makes_no_version_is_exported(warehouse: Path, lake: Path) -> None:
    """A forgotten client, a corrected time zone and attached ids do not change `_row_hash`."""
    export(warehouse, lake)
    with duckdb.connect(warehouse) as connection:
        connection.execute("update raw.phone_calls set client_id = 'c9' where practice_id = 'p2'")
    export(warehouse, lake)

    calls = rows(lake, manifest(lake), "raw.phone_calls")
    assert {row["client_id"] for row in calls if row["practice_id"] == "p2"} == {"c9"}


def test_who_reads_by_the_manifest_of_before_comes_to_the_end(warehouse: Path, lake: Path) -> None:
    export(warehouse, lake)
    before = manifest(lake)
    calls = rows(lake, before, "raw.phone_calls")
    change(warehouse)
    export(warehouse, lake)
    assert rows(lake, before, "raw.phone_calls") == calls

    listed = manifest(lake)
    change(warehouse, "Appointment booked")
    assert export(warehouse, lake).removed > 0
    assert not any((lake / path).exists() for path in before.paths() - listed.paths())
    assert all((lake / path).exists() for path in listed.paths())


def test_without_grace_nothing_of_before_stays(warehouse: Path, lake: Path) -> None:
    export(warehouse, lake)
    change(warehouse)
    export(warehouse, lake)
    export(warehouse, lake, grace=False)

    files = {str(path.relative_to(lake)) for path in lake.rglob("*.parquet")}
    assert files == manifest(lake).paths()


def test_a_table_with_another_column_is_written_again(warehouse: Path, lake: Path) -> None:
    export(warehouse, lake)
    before = manifest(lake)
    with duckdb.connect(warehouse) as connection:
        connection.execute("alter table raw.booking_sessions add column mood varchar")
    export(warehouse, lake)
    now = manifest(lake)

    written = {file.table for file in now.files if file.path not in before.paths()}
    assert written == {"raw.booking_sessions"}
    assert {row["mood"] for row in rows(lake, now, "raw.booking_sessions")} == {None}


def test_a_practice_may_be_called_anything(warehouse: Path, lake: Path) -> None:
    name = "St. John's / 003=ü %2F"
    with duckdb.connect(warehouse) as connection:
        connection.execute(
            "update raw.booking_sessions set practice_id = $name where practice_id = 'p2'", {"name": name}
        )
        connection.execute("update raw.booking_sessions set created_at = null where practice_id = 'p1'")
    export(warehouse, lake)
    listed = manifest(lake)

    partitions = {file.partition for file in listed.files if file.table == "raw.booking_sessions"}
    assert partitions == {(name, MAY), ("p1", None)}
    sessions = rows(lake, listed, "raw.booking_sessions")
    assert {row["practice_id"] for row in sessions} == {name, "p1"}
    with duckdb.connect() as connection:
        by_folder = connection.execute(
            f"select distinct practice_id from read_parquet('{lake}/raw/booking_sessions/*/*/*.parquet',"
            " hive_partitioning = true, hive_types_autocast = false)"
        ).fetchall()
    assert {practice for (practice,) in by_folder} == {name, "p1"}


def test_a_killed_export_leaves_the_one_before(warehouse: Path, lake: Path) -> None:
    """Killed before each step of an export: readers see one whole state, and the next export repairs it."""
    table = "raw.phone_calls"
    export(warehouse, lake)
    change(warehouse)
    export(warehouse, lake)
    change(warehouse, "Appointment booked")
    before = manifest(lake)
    calls = rows(lake, before, table)
    steps = 0
    while export_until_killed(warehouse, lake, steps):
        listed = manifest(lake)
        for name in listed.tables:
            rows(lake, listed, name)
        assert rows(lake, before, table) == calls
        if listed.export == before.export:
            assert listed == before
            steps += 1
            continue
        assert {row["outcome"] for row in rows(lake, listed, table)} == {"appointment_booked"}
        break
    assert steps >= 3  # raw, history, the manifest
    export(warehouse, lake)
    assert {row["outcome"] for row in rows(lake, manifest(lake), table)} == {"appointment_booked"}


def test_a_manifest_that_is_none_is_left_alone(warehouse: Path, lake: Path) -> None:
    lake.mkdir()
    (lake / "manifest.json").write_text('{"name": "an app"}', "utf-8")

    with pytest.raises(LakeError, match="is not a manifest of vetl"):
        export(warehouse, lake)
