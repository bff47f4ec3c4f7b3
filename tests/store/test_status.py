"""The status of each list after every commit, and the records of the last sync, build and publication."""

import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.examples import examples
from support.processes import holding
from support.warehouse_with_rows import START, Filled
from vetl.core.errors import WarehouseError
from vetl.core.pages import Certificate, Window, WindowKind
from vetl.core.steps import MergeRows
from vetl.endpoints import by_name
from vetl.store.notes import NotesFile, Snapshot, notes_file, read_note, read_snapshot, write_note
from vetl.store.tables import FIRST
from vetl.store.writer_lock import SIZE, lock_file, read_activity, recorded, writing

LISTS = ("booking_sessions", "appointments", "staff_tasks")
HOUR = timedelta(hours=1)
WORK = (
    "import sys; from pathlib import Path; from vetl.store.writer_lock import recorded\n"
    "from vetl.store.writer_lock import writing\n"
    "with writing(Path(sys.argv[1]), lock_wait_seconds=0), recorded(Path(sys.argv[1]), 'build', 'build'):\n"
    "    print('held', flush=True); sys.stdin.read()"
)
"""Another vetl, which builds until its input ends."""


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
    """The first sync makes no warehouse then, and its failure is known all the same."""
    warehouse = tmp_path / "vetl.duckdb"

    with writing(warehouse, lock_wait_seconds=0):
        with recorded(warehouse, "sync", "sync") as recorder:
            recorder.error = "sign-in refused"
        failed = read_activity(warehouse, "sync")
        with recorded(warehouse, "sync", "reconcile"):
            running = read_activity(warehouse, "sync")
    done = read_activity(warehouse, "sync")

    assert failed
    assert running
    assert done
    assert (failed.outcome, failed.error, failed.succeeded_at) == ("failed", "sign-in refused", None)
    assert (running.outcome, running.command) == ("running", "reconcile")
    assert (done.outcome, done.error, done.command) == ("done", None, "reconcile")
    assert done.succeeded_at == done.finished_at


def test_work_whose_process_has_ended_was_killed_even_if_another_one_has_the_lock(tmp_path: Path) -> None:
    """Process ids are used again, and each container counts its own."""
    warehouse = tmp_path / "vetl.duckdb"
    warehouse.touch()
    with holding(WORK, warehouse) as process:
        at_work = read_activity(warehouse, "build")
        process.kill()
        process.wait()
        killed = read_activity(warehouse, "build")
        with writing(warehouse, lock_wait_seconds=0), recorded(warehouse, "publication", "publish"):
            beside_another = read_activity(warehouse, "build")

    assert at_work
    assert killed
    assert (at_work.outcome, killed.outcome) == ("running", "killed")
    assert beside_another == killed


def test_a_record_says_no_value_of_an_error_that_nobody_foresaw_and_fits_into_its_place(tmp_path: Path) -> None:
    warehouse = tmp_path / "vetl.duckdb"
    warehouse.touch()
    with pytest.raises(ValueError, match="Jane"), recorded(warehouse, "build", "build"):
        raise ValueError("Jane Doe")
    unforeseen = read_activity(warehouse, "build")
    with recorded(warehouse, "build", "build") as recorder:
        recorder.error = "\u00e9" * 5_000
    long = read_activity(warehouse, "build")
    with recorded(warehouse, "sync", "sync"), recorded(warehouse, "publication", "publish"):
        pass

    assert unforeseen
    assert unforeseen.error
    assert unforeseen.error.startswith("internal error: ValueError in test_status.py, line ")
    assert long
    assert long.error
    assert (long.outcome, long.error[:3], long.error[-1]) == ("failed", "\u00e9" * 3, "…")
    assert read_activity(warehouse, "build") == long
    assert lock_file(warehouse).stat().st_size <= SIZE


def test_a_failure_is_recorded_on_a_disk_without_room(tmp_path: Path) -> None:
    """Every place is there since the first lock, and is overwritten."""
    warehouse = tmp_path / "vetl.duckdb"
    warehouse.touch()
    with writing(warehouse, lock_wait_seconds=0):
        blocks = lock_file(warehouse).stat().st_blocks
        with recorded(warehouse, "publication", "publish") as recorder:
            recorder.error = "the disk is full"

    assert (lock_file(warehouse).stat().st_size, lock_file(warehouse).stat().st_blocks) == (SIZE, blocks)


def test_a_snapshot_of_a_newer_vetl_is_refused(filled: Filled) -> None:
    run(filled, "first", "certified")
    document = read_note(filled.path, "status")
    write_note(filled.path, "status", {**document, "migration": "0999_later"})
    with pytest.raises(WarehouseError, match=r"newer than this vetl .*0999_later.*upgrade"):
        snapshot(filled)


def test_a_snapshot_that_is_no_snapshot_is_one_line(filled: Filled) -> None:
    for note in ([], "[1]", {}, {"migration": FIRST, "lists": [{"endpoint": 1}]}):
        write_note(filled.path, "status", note)
        with pytest.raises(WarehouseError, match=r"the status cannot be read; run `vetl sync`"):
            snapshot(filled)


def test_notes_that_are_no_database_are_one_line_with_the_remedy(filled: Filled) -> None:
    notes_file(filled.path).write_bytes(b"no database" * 1_000)

    with pytest.raises(WarehouseError, match=r"notes\.sqlite: file is not a database; move it away"):
        snapshot(filled)


def test_notes_are_read_while_another_process_writes_and_by_their_owner_alone(tmp_path: Path) -> None:
    warehouse = tmp_path / "vetl.duckdb"
    write_note(warehouse, "status", {"of": "before"})
    with NotesFile.open(notes_file(warehouse)) as notes, notes.writing():
        notes.put("status", '{"of": "now"}')
        assert read_note(warehouse, "status") == {"of": "before"}
    assert read_note(warehouse, "status") == {"of": "now"}
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}


def test_notes_are_read_on_a_disk_without_room(tmp_path: Path) -> None:
    """A database in WAL mode needs shared memory beside it, even to be read."""
    warehouse = tmp_path / "vetl.duckdb"
    write_note(warehouse, "status", {"of": "before"})
    code = (
        "import resource, signal, sys; from pathlib import Path; from vetl.store.notes import read_note\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "assert read_note(Path(sys.argv[1]), 'status') == {'of': 'before'}"
    )

    subprocess.run([sys.executable, "-c", code, warehouse], check=True)


def test_what_was_erased_leaves_no_bytes(tmp_path: Path) -> None:
    warehouse = tmp_path / "vetl.duckdb"
    write_note(warehouse, "forgettings", ["Jane Doe" * 1_000])
    with NotesFile.read_only(notes_file(warehouse)):  # the log stays while somebody reads
        write_note(warehouse, "forgettings", None, erase=True)

        assert all(b"Jane" not in file.read_bytes() for file in tmp_path.iterdir())


def test_a_reconcile_counts_for_the_lists_that_it_certified(filled: Filled) -> None:
    """As in `meta.proof`: not for a failed run, nor for another practice, nor during a run."""
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
    stored = read_snapshot(filled.path)
    assert stored
    return stored
