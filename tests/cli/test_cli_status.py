"""`vetl status` shows the last attempt of each list, and ends with the exit code of the worst state."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from prometheus_client.parser import text_string_to_metric_families
from vetl.cli import app
from vetl.core.list_read import Practice
from vetl.core.pages import Certificate, Window, WindowKind
from vetl.core.steps import MergeRows
from vetl.endpoints import REGISTRY, by_name
from vetl.publishing.last_publication import PublicationRecord, write_record
from vetl.store.file_header import what_is_wrong
from vetl.store.notes import notes_file
from vetl.store.warehouse import Warehouse
from vetl.store.writer_lock import recorded

WAREHOUSE = Path("warehouse/data/vetl.duckdb")
NOW = datetime(2026, 1, 16, 19, 30, tzinfo=UTC)
EVERY = [endpoint.name for endpoint in REGISTRY]
ALL = 2 * len(EVERY)


@pytest.fixture(autouse=True)
def _here(empty_folder: None, configured: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - their effect
    monkeypatch.setenv("TZ", "UTC")


def result(endpoint: str, state: str, reason: str, practice: str = "loc-1") -> dict[str, Any]:
    through = NOW.isoformat() if state == "certified" else None
    entry = {"practice_id": practice, "endpoint": endpoint, "state": state, "reason": reason}
    return {**entry, "certified_through": through}


def a_run(exit_code: int | None, *results: dict[str, Any], run_id: str = "run") -> None:
    """Record a sync with these results, and a build and a publication after it.

    Without an exit code the sync was killed; without results it was interrupted.
    """
    practices = [Practice(f"loc-{number}", "Harbor", "UTC", date(2026, 1, 1)) for number in (1, 2)]
    with Warehouse.open(WAREHOUSE, REGISTRY, lock_wait_seconds=0) as warehouse:
        warehouse.set_practices(practices)
        warehouse.start_run(run_id, datetime.now(UTC), "sync")
        proof = Certificate(
            Window(), WindowKind.CLOSED, 0, 0, 0, 0, 1, 0, True, "one page is one snapshot", NOW, NOW
        )
        warehouse.commit(run_id, "loc-1", by_name("staff_tasks"), [MergeRows((), NOW, certificate=proof)])
        if exit_code is not None:
            summary = {"results": results}
            warehouse.finish_run(run_id, source_clock=NOW, exit_code=exit_code, summary=summary)
    for kind in ("build", "publication"):
        with recorded(WAREHOUSE, kind, kind):
            pass
    with duckdb.connect(str(WAREHOUSE.with_name("analytics.duckdb"))) as connection:
        connection.execute("create schema if not exists marts")


def all_certified() -> list[dict[str, Any]]:
    return [result(name, "certified", "fine", practice) for practice in ("loc-1", "loc-2") for name in EVERY]


def status(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = app.execute(["status", *arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


def test_a_list_that_failed_last_reads_failed_although_it_was_certified(
    capsys: pytest.CaptureFixture[str],
) -> None:
    a_run(0, *all_certified())
    assert status(capsys)[0] == 0
    a_run(1, result("staff_tasks", "failed", "GET staff_tasks: HTTP 500"), run_id="second")

    code, out, err = status(capsys)

    assert code == 1
    assert out.startswith(
        f"{ALL} lists of 2 practices: 1 failed, {ALL - 1} certified; last sync failed just now\n"
    )
    rows = [line for line in out.splitlines() if line.startswith("loc-")]
    assert [(row.split()[0], "failed" in row) for row in rows] == [("loc-1", True), ("loc-2", False)]
    assert all(len(line) <= 80 for line in out.splitlines()[1 : 2 + len(rows)])
    [line] = [
        line for line in status(capsys, "--all")[1].splitlines() if "loc-1" in line and "staff_tasks" in line
    ]
    assert "failed" in line
    assert "2026-01-16 19:30" in line
    assert err == "loc-1 staff_tasks: failed just now: GET staff_tasks: HTTP 500\n"

    document = json.loads(status(capsys, "--json")[1])
    [item] = [
        item for item in document["lists"] if item["endpoint"] == "staff_tasks" and item["practice_id"] == "loc-1"
    ]
    assert (document["exit_code"], item["state"], item["certified_through"]) == (1, "failed", NOW.isoformat())
    assert item["attempt"]["last_read"] < item["attempt"]["finished"]


def test_a_failed_list_is_a_metric_that_prometheus_can_parse(capsys: pytest.CaptureFixture[str]) -> None:
    a_run(0, *all_certified())
    a_run(1, result("staff_tasks", "failed", "GET staff_tasks: HTTP 500"), run_id="second")

    code, out, _ = status(capsys, "--format", "prometheus")

    families = text_string_to_metric_families(out)
    values = {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}
    assert code == values["vetl_status_exit_code",] == 1
    assert {labels for labels, value in values.items() if labels[0] == "vetl_list_ok" and not value} == {
        ("vetl_list_ok", "staff_tasks", "loc-1")
    }
    assert values["vetl_list_certified_until_seconds", "staff_tasks", "loc-1"] == NOW.timestamp()
    assert datetime.now(UTC).timestamp() - values["vetl_last_success_seconds", "build"] < 60
    assert values["vetl_last_ok", "publication"] == 1


def test_it_counts_the_words_that_are_masked_in_the_published_file(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The record of a publication counts for the file that it wrote and for no other."""
    a_run(0, *all_certified())
    file = WAREHOUSE.with_name("analytics.duckdb")
    masked_words = {"booking_sessions.referral_source": 3}
    write_record(WAREHOUSE, PublicationRecord("1", "digest", "salt", masked_words), file)

    assert "1 column published with masked values: --all names them" in status(capsys)[1]
    assert "too few people share them: booking_sessions.referral_source (3)." in status(capsys, "--all")[1]
    assert json.loads(status(capsys, "--json")[1])["published"]["masked_words"] == masked_words

    another = file.with_name("another")
    another.write_bytes(file.read_bytes())
    another.replace(file)

    assert "masked" not in status(capsys)[1]
    assert json.loads(status(capsys, "--json")[1])["published"]["masked_words"] is None


def test_a_back_up_without_its_notes_says_what_writes_them(capsys: pytest.CaptureFixture[str]) -> None:
    a_run(0, *all_certified())
    notes_file(WAREHOUSE).unlink()

    code, _, err = status(capsys)

    assert (code, "the notes beside it are gone; run `vetl sync`" in err) == (1, True)


def test_it_can_be_narrowed_to_a_practice(capsys: pytest.CaptureFixture[str]) -> None:
    a_run(1, *all_certified()[:-1], result("patients", "failed", "why", "loc-2"))

    assert status(capsys, "--practice", "loc-1")[0] == 0
    code, out, _ = status(capsys, "--practice", "loc-2")
    assert code == 1
    assert "loc-1" not in out
    code, _, err = status(capsys, "--practice", "nope")
    assert code == 2
    assert "known are loc-1, loc-2" in err


def test_watching_ends_with_an_interrupt_and_the_last_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    a_run(1, *all_certified()[:-1], result("patients", "failed", "why", "loc-2"))
    looks = 0

    def interrupted(_seconds: float) -> None:
        nonlocal looks
        looks += 1
        if looks == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("vetl.cli.status.time.sleep", interrupted)

    code, out, _ = status(capsys, "--watch")

    assert code == 1
    assert out.count(f"{ALL} lists of 2 practices") == 2
    assert status(capsys, "--watch", "--json")[0] == 2


def test_the_table_is_shown_with_one_line_about_the_damage(capsys: pytest.CaptureFixture[str]) -> None:
    """`tests/cli/test_bad_days.py` has a file that is gone, and other kinds of damage."""
    a_run(0, result("staff_tasks", "certified", "fine"))
    assert "error" not in json.loads(status(capsys, "--json")[1])
    WAREHOUSE.write_bytes(WAREHOUSE.read_bytes()[:5_000])

    code, out, err = status(capsys)

    assert code == 1
    assert "loc-1" in out
    assert f"{WAREHOUSE}: is cut off" in err
    assert err.count("\n") == 1
    document = json.loads(status(capsys, "--json")[1])
    assert (document["exit_code"], bool(document["lists"])) == (1, True)
    assert "is cut off" in document["error"]


def test_a_file_that_grows_and_shrinks_is_sound_all_the_time(tmp_path: Path) -> None:
    """DuckDB appends blocks before it counts them, and truncates the file before it reduces the count."""
    path = tmp_path / "any.duckdb"
    statements = [
        "create table a as select range as n, range::varchar as t from range(300_000)",
        "checkpoint",
        "delete from a where n % 3 = 0",
        "checkpoint",
        "drop table a",
        "checkpoint",
        "create table b as select 1 as n",
    ]
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
            assert what_is_wrong(path) is None, statement
    assert what_is_wrong(path) is None
