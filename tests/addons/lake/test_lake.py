"""The lake has the committed rows as Delta tables, partition by partition."""

import stat
from contextlib import closing
from datetime import date
from pathlib import Path

import duckdb
import polars as pl
import pytest
from support.lakes import differing, lake_settings, rows_of, table_of, versions
from support.warehouse_with_rows import Filled, call_line
from vetl.addons.lake.delta import LakeError
from vetl.addons.lake.job import run_export
from vetl.addons.lake.lake_tables import private_tables
from vetl.settings import Settings

MAY = "2025-05"
AT = "2025-05-03T10:00:00Z"
SESSION = {"id": "s1", "status": "active", "created_at": AT, "updated_at": AT}
ODD = ("1042", "00731", "2026-01-15", 'it\'s "odd"; --', "Zoë 🐶", "a/b %2F c", "x=y&z", "\\N", "C:\\d", "*")
FORGOTTEN = "insert into control.forgotten values ('{}', 'c-1', 7, now())"


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
def settings(content: bytes, tmp_path: Path) -> Settings:
    (tmp_path / "vetl.duckdb").write_bytes(content)
    return lake_settings(tmp_path, tmp_path / "lake")


def fill(filled: Filled) -> None:
    filled.replace_days(call_line(), call_line("2025-05-01 11:00"))
    filled.replace_days(call_line("2025-06-02 09:00"), first=date(2025, 6, 2), last=date(2025, 6, 2))
    filled.merge("booking_sessions", SESSION)


def change(settings: Settings, outcome: str = "Voicemail") -> None:
    """Change a call of May at the first practice."""
    filled = Filled(settings.warehouse.path)
    filled.replace_days(call_line(outcome=outcome), call_line("2025-05-01 11:00"))
    filled.warehouse.close()


def run_sql(settings: Settings, *statements: str) -> None:
    with closing(duckdb.connect(settings.warehouse.path)) as connection:
        for statement in statements:
            connection.execute(statement)


def files_of(settings: Settings, name: str) -> set[str]:
    return set(table_of(settings, name).file_uris())


def test_a_lake_has_the_committed_rows_for_its_owner_alone(settings: Settings) -> None:
    change(settings)
    run_export(settings)

    lake = Path(settings.warehouse.path).parent / "lake"
    assert {stat.S_IMODE((lake / name).stat().st_mode) for name in ("raw", "history", "control")} == {0o700}
    with closing(duckdb.connect(settings.warehouse.path, read_only=True)) as connection:
        connection.execute("set TimeZone = 'UTC'")
        [folder] = {row["folder"] for row in rows_of(settings, "control.exports")}
        tables = list(private_tables(connection, folder, raw=True))
        assert {"raw.phone_calls", "history.phone_calls", "control.windows"} <= {table.name for table in tables}
        for table in tables:
            there = table_of(settings, table.name).to_pyarrow_table()
            connection.register("there", there)
            assert differing(connection, f"({table.relation})", "there") == 0, table.name
    assert "control.meta" not in versions(settings)


def test_without_raw_nobody_is_named(settings: Settings, tmp_path: Path) -> None:
    run_export(lake_settings(tmp_path, tmp_path / "lake", raw=False))

    assert versions(settings).keys() == {
        "control.exports",
        "control.practices",
        "control.runs",
        "control.windows",
    }


def test_only_partitions_that_changed_are_written_in_one_commit_whose_version_is_noted(settings: Settings) -> None:
    run_export(settings)
    before, files = versions(settings), files_of(settings, "raw.phone_calls")
    change(settings)
    exported = run_export(settings)

    after = versions(settings)
    assert {name for name in after if after[name] != before.get(name)} - {"control.changes"} == {
        *("raw.phone_calls", "history.phone_calls", "control.exports")
    }
    assert after["raw.phone_calls"] == before["raw.phone_calls"] + 1
    [new] = files_of(settings, "raw.phone_calls") - files
    assert f"practice_id=p1/month={MAY}" in new
    assert exported.rows["raw.phone_calls"] == 2
    assert {row["outcome"] for row in rows_of(settings, "raw.phone_calls")} == {"voicemail", "appointment_booked"}
    noted = {row["table_name"]: row["version"] for row in rows_of(settings, "control.exports")}
    assert noted == {name: after[name] for name in after if name != "control.exports"}
    assert run_export(settings).commits == 0
    assert versions(settings) == after


def test_a_commit_says_which_run_and_certificates_it_has(settings: Settings) -> None:
    run_sql(
        settings,
        "insert into control.runs (run_id, command, started_at) values ('run-7', 'sync', now())",
        "insert into control.windows values ('p1', 'phone_calls', 'run-7', 'closed', null, null, null, 1, 1, 1, 1,"
        " 1, 0, true, 'whole', timestamptz '2026-01-01 00:00:00Z', timestamptz '2026-01-01 00:01:00Z')",
    )
    run_export(settings)

    [last] = table_of(settings, "raw.phone_calls").history(1)
    assert last["run"] == "run-7"
    assert last["certificate"] == "1 of 1 windows certified, the last at 2026-01-01T00:01:00Z"
    assert int(last["digest"], 16) > 0


def test_a_change_that_makes_no_version_is_exported(settings: Settings) -> None:
    """A forgotten client, a corrected time zone and attached ids do not change `_row_hash`."""
    run_export(settings)
    run_sql(settings, "update raw.phone_calls set client_id = 'c9' where practice_id = 'p2'")
    run_export(settings)

    calls = rows_of(settings, "raw.phone_calls")
    assert {row["client_id"] for row in calls if row["practice_id"] == "p2"} == {"c9"}


def test_rows_that_are_gone_and_practices_that_are_gone_leave_the_lake(settings: Settings) -> None:
    run_export(settings)
    run_sql(
        settings,
        "delete from raw.phone_calls where practice_id = 'p1' and call_date >= date '2025-06-01'",
        "delete from raw.booking_sessions where practice_id = 'p2'",
    )
    run_export(settings)

    assert {row["month"] for row in rows_of(settings, "raw.phone_calls") if row["practice_id"] == "p1"} == {MAY}
    assert {row["practice_id"] for row in rows_of(settings, "raw.booking_sessions")} == {"p1"}


def test_a_new_column_is_exported_and_another_type_is_one_line(settings: Settings) -> None:
    run_sql(settings, FORGOTTEN.format("p1"))
    run_export(settings)
    run_sql(settings, "alter table raw.booking_sessions add column mood varchar")
    run_export(settings)
    assert {row["mood"] for row in rows_of(settings, "raw.booking_sessions")} == {None}

    run_sql(settings, "alter table control.forgotten alter rows type varchar")
    with pytest.raises(LakeError) as caught:
        run_export(settings)
    assert "control/forgotten: rows is long there and string here; remove the table" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert [row["rows"] for row in rows_of(settings, "control.forgotten")] == [7]


def test_a_practice_may_be_called_anything(settings: Settings) -> None:
    run_export(settings)
    for number, name in enumerate(ODD):
        text = name.replace("'", "''")
        run_sql(
            settings,
            "insert into raw.booking_sessions by name"
            f" (select * replace ('{text}' as practice_id, 'n{number}' as id)"
            " from raw.booking_sessions where practice_id = 'p1')",
        )
    run_sql(settings, "update raw.booking_sessions set created_at = null where practice_id = 'p2'")
    run_export(settings)
    run_sql(settings, "update raw.booking_sessions set status = 'other' where practice_id <> 'p1'")
    run_export(settings)

    sessions = rows_of(settings, "raw.booking_sessions")
    assert sorted(row["practice_id"] for row in sessions) == sorted((*ODD, "p1", "p2"))
    assert {row["status"] for row in sessions if row["practice_id"] != "p1"} == {"other"}
    assert {row["practice_id"] for row in sessions if row["month"] is None} == {"p2"}
    scanned = pl.scan_delta(f"{settings.warehouse.path.parent}/lake/raw/booking_sessions").collect()
    assert sorted(scanned["practice_id"]) == sorted((*ODD, "p1", "p2"))


def test_a_table_that_was_removed_is_written_again(settings: Settings) -> None:
    run_export(settings)
    place = settings.warehouse.path.parent / "lake" / "raw" / "phone_calls"
    place.rename(place.with_name("elsewhere"))

    assert run_export(settings).rows == {"raw.phone_calls": 6}
    assert len(rows_of(settings, "raw.phone_calls")) == 6


def test_a_place_that_is_a_file_is_one_line(settings: Settings) -> None:
    (settings.warehouse.path.parent / "lake").write_text("a file", "utf-8")

    with pytest.raises(LakeError, match=r"/lake: .*File exists"):
        run_export(settings)


def test_a_folder_of_something_else_is_left_alone(settings: Settings) -> None:
    log = settings.warehouse.path.parent / "lake" / "control" / "exports" / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json").write_text('{"name": "an app"}', "utf-8")

    with pytest.raises(LakeError) as caught:
        run_export(settings)
    assert "\n" not in str(caught.value)
    assert "an app" in (log / "00000000000000000000.json").read_text("utf-8")
