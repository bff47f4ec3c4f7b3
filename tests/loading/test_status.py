"""The status of each list after every commit, and the records of the last sync, build and publication."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.warehouse_with_rows import START, Filled
from vetl import bundled
from vetl.core.errors import WarehouseError
from vetl.core.pages import Certificate, Window, WindowKind
from vetl.core.steps import MergeRows
from vetl.endpoints import by_name
from vetl.loading.control.activity import activity_path, read_activity, record_failure, recorded
from vetl.loading.control.list_status import list_status_of
from vetl.loading.control.snapshot import Snapshot, read_snapshot, snapshot_path

LISTS = ("booking_sessions", "appointments", "staff_tasks")
HOUR = timedelta(hours=1)


def evidence(finished: datetime) -> Certificate:
    return Certificate(Window(), WindowKind.CLOSED, 0, 0, 0, 0, 1, 0, True, f"at {finished}", finished, finished)


@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commits=st.lists(st.tuples(st.sampled_from(LISTS), st.integers(0, 20)), min_size=1, max_size=8))
def test_it_is_the_one_that_was_finished_last_in_whatever_order_they_were_committed(
    shared: Filled, commits: list[tuple[str, int]]
) -> None:
    """Practices are read side by side, so a commit may have an earlier source time than the one before."""
    shared.another_practice()
    last: dict[str, datetime] = {}
    for name, hours in commits:
        finished = START + hours * HOUR
        shared.commit(name, MergeRows((), finished, certificate=evidence(finished)))
        last[name] = max(last.get(name, finished), finished)

        reasons = {
            item.endpoint: item.certificate.reason
            for item in shared.warehouse.status()
            if item.practice_id == shared.practice.id and item.certificate
        }

        assert reasons == {name: f"at {finished}" for name, finished in last.items()}


def test_of_many_lists_only_the_one_that_changed_is_looked_at(filled: Filled) -> None:
    """Otherwise the cost of a commit would grow with the practices, and that of a sync with their square."""
    filled.merge("staff_tasks", {"id": 1})
    filled.merge("appointments", {"id": 1})
    filled.warehouse.status()
    filled.connection.execute("delete from raw.appointments")
    filled.connection.execute("insert into control.cursors values ('p1', 'appointments', '{}', 'behind its back')")
    filled.merge("staff_tasks", {"id": 2})

    rows = {item.endpoint: (item.rows, item.cursor) for item in filled.warehouse.status()}

    assert rows["staff_tasks"] == (2, None)
    assert rows["appointments"] == (1, None)


def test_the_last_attempt_of_each_list_is_kept_and_with_it_until_when_it_was_certain(filled: Filled) -> None:
    run(filled, "first", "certified", through="2025-06-01T00:00:00+00:00")
    (before,) = [item for item in filled.warehouse.status() if item.endpoint == "clients"]
    run(filled, "second", "failed", reason="HTTP 500")

    (entry,) = [item for item in filled.warehouse.status() if item.endpoint == "clients"]

    assert before.attempt
    assert before.attempt.finished == before.attempt.last_read
    assert entry.read_at == before.read_at
    assert entry.state == "failed"
    assert entry.certified_through == "2025-06-01T00:00:00+00:00"
    assert entry.attempt
    assert (entry.attempt.reason, entry.attempt.run_id) == ("HTTP 500", "second")
    assert filled.rows("select count(*) from control.attempts") == [(1,)]
    assert snapshot(filled).lists == filled.warehouse.status()
    run_told = snapshot(filled).run
    assert run_told
    assert (run_told["run_id"], run_told["exit_code"]) == ("second", 1)


def test_a_first_sync_that_was_killed_has_read_a_part(filled: Filled) -> None:
    filled.merge("staff_tasks", {"id": 1})

    states = {item.endpoint: (item.state, item.rows) for item in filled.warehouse.status()}

    assert states["staff_tasks"] == ("partly read", 1)
    assert states["appointments"] == ("not read", 0)


def test_a_sync_that_cannot_begin_is_known_until_the_next_one(tmp_path: Path) -> None:
    """Without a warehouse there is no folder for the record."""
    warehouse = tmp_path / "vetl.duckdb"
    record_failure(warehouse, "sync", "sync", "sign-in refused")
    assert read_activity(warehouse, "sync") is None
    assert list(tmp_path.iterdir()) == []
    warehouse.touch()

    record_failure(warehouse, "sync", "sync", "sign-in refused")

    failed = read_activity(warehouse, "sync")
    assert failed
    assert (failed.outcome, failed.error, failed.succeeded_at) == ("failed", "sign-in refused", None)
    with recorded(warehouse, "sync", "reconcile"):
        running = read_activity(warehouse, "sync")
        record_failure(warehouse, "sync", "sync", "another one, while this one is at work")
    done = read_activity(warehouse, "sync")
    assert running
    assert done
    assert (running.outcome, running.command) == ("running", "reconcile")
    assert (done.outcome, done.error, done.command) == ("done", None, "reconcile")
    assert done.succeeded_at == done.finished_at


def test_a_record_says_no_value_of_an_error_that_nobody_foresaw_and_fits_into_its_file(tmp_path: Path) -> None:
    warehouse = tmp_path / "vetl.duckdb"
    warehouse.touch()
    with pytest.raises(ValueError, match="Jane"), recorded(warehouse, "build", "build"):
        raise ValueError("Jane Doe")
    unforeseen = read_activity(warehouse, "build")
    record_failure(warehouse, "build", "build", "\u00e9" * 5_000)
    long = read_activity(warehouse, "build")

    assert unforeseen
    assert unforeseen.error == "internal error: ValueError"
    assert long
    assert long.outcome == "failed"
    assert activity_path(warehouse, "build").stat().st_size == 4_096


def test_a_snapshot_of_a_newer_vetl_is_refused_and_one_of_0_1_0_is_read(filled: Filled) -> None:
    run(filled, "first", "certified")
    document = json.loads(snapshot_path(filled.path).read_text())
    snapshot_path(filled.path).write_text(json.dumps({**document, "migration": "0999_later"}))
    with pytest.raises(WarehouseError, match=r"newer than this vetl .*0999_later.*upgrade"):
        snapshot(filled)

    snapshot_path(filled.path).write_text(json.dumps(document["lists"]))
    assert snapshot(filled) == Snapshot([list_status_of(item) for item in document["lists"]])


def test_a_snapshot_that_is_no_snapshot_is_one_line(filled: Filled) -> None:
    for text in ("", "[1]", "{}", '{"migration": "0001_control", "lists": [{"endpoint": 1}]}'):
        snapshot_path(filled.path).write_text(text)
        with pytest.raises(WarehouseError, match=r"cannot be read; the next sync writes it again"):
            snapshot(filled)


def test_a_reconcile_counts_for_the_lists_that_it_certified(filled: Filled) -> None:
    """As in `marts.proof`: not for a failed run, nor for another practice, nor during a run."""
    filled.another_practice()
    filled.warehouse.start_run("again", START, "reconcile")
    for name in ("appointments", "staff_tasks"):
        proof = MergeRows((), START, certificate=evidence(START))
        filled.warehouse.commit("again", filled.practice.id, by_name(name), [proof])
    assert reconciled(filled) == {}
    states = {"appointments": "certified", "staff_tasks": "uncertified"}
    results = [
        {"practice_id": practice, "endpoint": name, "state": state, "reason": "", "certified_through": None}
        for name, state in states.items()
        for practice in (filled.practice.id, "elsewhere")
    ]
    filled.warehouse.finish_run("again", source_clock=START, exit_code=1, summary={"results": results})

    assert reconciled(filled) == {(filled.practice.id, "appointments"): "2025-06-01T00:00:00Z"}
    assert snapshot(filled).lists == filled.warehouse.status()


def reconciled(filled: Filled) -> dict[tuple[str, str], str]:
    entries = filled.warehouse.status()
    return {(item.practice_id, item.endpoint): at for item in entries if (at := item.last_reconcile)}


def run(filled: Filled, run_id: str, state: str, *, reason: str = "", through: str | None = None) -> None:
    filled.warehouse.start_run(run_id, START, "sync")
    result = {"practice_id": filled.practice.id, "endpoint": "clients", "state": state, "reason": reason}
    summary = {"results": [{**result, "certified_through": through}]}
    filled.warehouse.finish_run(run_id, source_clock=START, exit_code=int(state == "failed"), summary=summary)


def snapshot(filled: Filled) -> Snapshot:
    stored = read_snapshot(filled.path, bundled.migrations())
    assert stored
    return stored
