"""Practices move between shards with all their rows: if a move is interrupted, no row is lost or doubled."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.raw_tables import create_warehouse
from support.warehouse_with_rows import START, ask, call_line, csv_page
from vetl.core.errors import WarehouseError
from vetl.core.practice import Practice
from vetl.core.steps import ReplaceDays
from vetl.endpoints import REGISTRY, by_name
from vetl.loading import shards
from vetl.loading.connection import attach_shards
from vetl.loading.layout import read_layout, shards_of, written_files
from vetl.loading.shards import arrange, gather
from vetl.loading.warehouse import Warehouse

PRACTICES = [Practice(f"p{number}", f"Practice {number}", "UTC", date(2025, 1, 1)) for number in range(5)]
IDS = [practice.id for practice in PRACTICES]
CALLS = by_name("phone_calls")
TABLES = ("raw.phone_calls", "raw.staff_tasks", "history.staff_tasks", "control.windows", "control.practices")

Rows = Mapping[str, list[tuple[Any, ...]]]


class Crashed(Exception):
    """The error that interrupts a move in a test."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a file of five practices with tasks, superseded versions of some, and calls with salted keys."""
    path = tmp_path_factory.mktemp("filled") / "vetl.duckdb"
    tasks = [
        {"practice_id": practice, "id": f"{practice}-{number}", "status": "pending", "_row_hash": number}
        for practice in IDS
        for number in range(3)
    ]
    create_warehouse(
        path, practices=PRACTICES, clocks=[START], tables={"staff_tasks": tasks, "history.staff_tasks": tasks[::4]}
    )
    read_calls(path, "10:00")
    return path.read_bytes()


def put(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def read_calls(path: Path, *minutes: str) -> None:
    """Return one day of each practice's calls, as stored by a sync."""
    homes = {practice: file for name, file in shards_of(path).items() for practice in read_layout(path)[name[6:]]}
    for practice in IDS:
        with Warehouse.open(homes.get(practice, path), REGISTRY, lock_wait_seconds=0) as warehouse:
            day = date(2025, 5, 1)
            page = csv_page(*(call_line(f"2025-05-01 {minute}") for minute in minutes))
            warehouse.commit("run", practice, CALLS, [ReplaceDays([page], day, day, START)])


def contents(path: Path) -> Rows:
    """Return all rows of all shards, through the views of the main file."""
    gather(path, lock_wait_seconds=0)
    with duckdb.connect(str(path), read_only=True) as connection:
        attach_shards(connection, path)
        rows = "select columns(lambda name: name <> '_loaded_at') from {} order by all"
        return {table: connection.execute(rows.format(table)).fetchall() for table in TABLES}


@contextmanager
def crashing_after(steps: int) -> Generator[None]:
    """Let the process make so many changes to files; it ends before the next change."""
    left = iter(range(steps))

    def bounded(act: Any) -> Any:
        def acted(*given: Any, **named: Any) -> Any:
            if next(left, None) is None:
                raise Crashed
            return act(*given, **named)

        return acted

    with pytest.MonkeyPatch.context() as patch:
        for name in ("write_layout", "_rename", "transaction", "gather"):
            patch.setattr(shards, name, bounded(getattr(shards, name)))
        yield


layouts = st.integers(1, 4).flatmap(
    lambda number: st.lists(st.integers(1, number), min_size=len(IDS), max_size=len(IDS)).map(
        lambda homes: {
            str(shard): [practice for practice, home in zip(IDS, homes, strict=True) if home == shard]
            for shard in range(1, number + 1)
        }
    )
)


@given(st.lists(st.tuples(layouts | st.just({}), st.integers(0, 12)), min_size=1, max_size=3))
@settings(max_examples=examples(3))
def test_whatever_ends_a_move_every_row_is_there_once(
    filled: bytes, moves: list[tuple[dict[str, list[str]], int]]
) -> None:
    with TemporaryDirectory() as folder:
        path = put(Path(folder) / "vetl.duckdb", filled)
        before = contents(path)
        for wanted, steps in moves:
            try:
                with crashing_after(steps):
                    arrange(path, wanted, lock_wait_seconds=0)
            except Crashed:
                continue  # the next move is another one
        wanted = moves[-1][0]
        arrange(path, wanted, lock_wait_seconds=0)

        assert contents(path) == before
        for name, file in shards_of(path).items():
            held = ask(file, "select distinct practice_id from raw.staff_tasks order by all")
            assert [practice for (practice,) in held] == sorted(wanted[name.removeprefix("shard_")])
        assert {file.name for file in path.parent.glob("*.duckdb")} == {
            path.name,
            *(file.name for file in written_files(path)),
        }


def test_calls_keep_their_keys_in_another_shard_and_new_calls_get_the_same(filled: bytes, tmp_path: Path) -> None:
    alone, moved = put(tmp_path / "alone.duckdb", filled), put(tmp_path / "moved.duckdb", filled)
    arrange(moved, {"1": IDS[:2], "2": IDS[2:]}, lock_wait_seconds=0)

    for path in (alone, moved):
        read_calls(path, "10:00", "11:00")

    assert contents(moved)["raw.phone_calls"] == contents(alone)["raw.phone_calls"]


def test_a_run_of_several_shards_ended_as_the_last_says_in_one_file_too(filled: bytes, tmp_path: Path) -> None:
    path = put(tmp_path / "vetl.duckdb", filled)
    arrange(path, {"1": IDS[:2], "2": IDS[2:]}, lock_wait_seconds=0)
    for exit_code, file in enumerate(shards_of(path).values()):
        with Warehouse.open(file, REGISTRY, lock_wait_seconds=0) as warehouse:
            warehouse.start_run("drain", START, "drain")
            warehouse.finish_run("drain", source_clock=START, exit_code=exit_code, summary={})

    arrange(path, {}, lock_wait_seconds=0)

    assert ask(path, "select exit_code from control.runs where run_id = 'drain'") == [(1,)]


def test_a_layout_that_cannot_be_read_is_as_vetl_errors(filled: bytes, tmp_path: Path) -> None:
    path = put(tmp_path / "vetl.duckdb", filled)
    arrange(path, {"1": IDS, "2": []}, lock_wait_seconds=0)
    path.with_name("vetl.duckdb.shards.json").write_text("{")

    with pytest.raises(WarehouseError, match=r"shards\.json: cannot be read"):
        arrange(path, {}, lock_wait_seconds=0)


def test_the_log_of_a_shard_that_is_gone_is_removed_with_it(filled: bytes, tmp_path: Path) -> None:
    """A killed move leaves the log, which a later shard of the same name would read as its own."""
    path = put(tmp_path / "vetl.duckdb", filled)
    arrange(path, {"1": [IDS[0]], "2": list(IDS[1:])}, lock_wait_seconds=0)
    with crashing_after(3), pytest.raises(Crashed):
        arrange(path, {"1": list(IDS)}, lock_wait_seconds=0)
    log = tmp_path / "vetl.2.duckdb.wal"
    log.touch()

    arrange(path, {"1": list(IDS)}, lock_wait_seconds=0)

    assert not log.exists()
    assert read_layout(path) == {"1": list(IDS)}
