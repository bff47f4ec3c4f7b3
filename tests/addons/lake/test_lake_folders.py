"""Several folders export into one lake, and are killed in between: nothing is lost or read by halves."""

import os
import signal
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

import duckdb
import pytest
from deltalake import DeltaTable
from support import forked
from support.lakes import lake_settings, rows_of, table_of
from support.warehouse_with_rows import Filled
from vetl.addons.lake import delta
from vetl.addons.lake.delta import Lake
from vetl.addons.lake.job import run_export
from vetl.settings import Settings

WRITERS, ROUNDS = 4, 2
CALLS = "raw.phone_calls"


def folder_of(lake: Path, number: int, practices: int, calls: int) -> Settings:
    """Return a folder whose practices have so many calls of two months each."""
    settings = lake_settings(lake.parent / f"folder-{number}", lake)
    settings.warehouse.path.parent.mkdir()
    Filled(settings.warehouse.path).warehouse.close()
    with closing(duckdb.connect(settings.warehouse.path)) as connection:
        connection.execute(
            "insert into raw.phone_calls by name select 'f' || $folder || '-' || (i % $practices) as practice_id,"
            " date '2026-01-01' + (i // $practices % 59)::integer as call_date, 'k' || i as call_key,"
            " '0' as outcome, 'Jane Doe ' || i as client_name from range($practices * $calls) r(i)",
            {"folder": number, "practices": practices, "calls": calls},
        )
    with closing(duckdb.connect(settings.warehouse.published)) as connection:
        connection.execute(
            "create schema marts; create schema meta; create table meta.metrics as select 'calls' as metric"
        )
        connection.execute(
            "create table marts.practice_daily as select 'f' || $folder || '-' || (i % $practices) as practice_id,"
            " date '2026-01-01' + (i // $practices)::integer as day, i as calls from range($practices * 59) r(i)",
            {"folder": number, "practices": practices},
        )
    return settings


def change(settings: Settings, outcome: int) -> None:
    with closing(duckdb.connect(settings.warehouse.path)) as connection:
        connection.execute("update raw.phone_calls set outcome = ?", [str(outcome)])


def export_rounds(settings: Settings, first: int) -> None:
    """Change and export a folder a few times, in a process of its own."""
    for outcome in range(first, first + ROUNDS):
        change(settings, outcome)
        run_export(settings)


def started(settings: Settings, first: int):  # noqa: ANN201 - a process of multiprocessing
    return forked.start(export_rounds, settings, first)


def outcomes(table: DeltaTable) -> dict[str, set[tuple[str, int]]]:
    """Return by practice its outcomes with their numbers of rows."""
    columns = table.to_pyarrow_table(columns=["practice_id", "outcome"]).to_pydict()
    found: dict[str, set[tuple[str, int]]] = {}
    for (practice, outcome), rows in Counter(zip(columns["practice_id"], columns["outcome"], strict=True)).items():
        found.setdefault(practice, set()).add((outcome, rows))
    return found


def test_writers_that_are_killed_lose_nothing_and_show_no_halves(tmp_path: Path) -> None:
    random = Random(7)
    folders = [folder_of(tmp_path / "lake", number, practices=2, calls=300) for number in range(WRITERS)]
    run_export(folders[0])
    halves: list[dict[str, set[tuple[str, int]]]] = []
    reads = 0
    is_over = threading.Event()

    def read() -> None:
        nonlocal reads
        while not is_over.is_set():
            by_practice = outcomes(table_of(folders[0], CALLS))
            halves.extend(
                [by_practice] * any(len(one) != 1 or {300} != {n for _, n in one} for one in by_practice.values())
            )
            reads += 1

    reader = threading.Thread(target=read)
    reader.start()
    try:
        running = {number: started(settings, 10) for number, settings in enumerate(folders)}
        for kill in range(WRITERS):
            time.sleep(random.uniform(0.1, 0.6))
            number = random.choice([one for one, process in running.items() if process.is_alive()] or [0])
            running[number].kill()
            running[number].join()
            running[number] = started(folders[number], 20 + kill * ROUNDS)
        for process in running.values():
            process.join()
        assert {process.exitcode for process in running.values()} == {0}
    finally:
        is_over.set()
        reader.join()

    assert (halves, reads > 3) == ([], True)
    expected = {}
    for number, settings in enumerate(folders):
        run_export(settings)
        assert run_export(settings).commits == 0
        with closing(duckdb.connect(settings.warehouse.path, read_only=True)) as connection:
            [(outcome,)] = connection.execute("select distinct outcome from raw.phone_calls").fetchall()
        expected |= {f"f{number}-{practice}": {(outcome, 300)} for practice in range(2)}
    assert outcomes(table_of(folders[0], CALLS)) == expected
    assert len(rows_of(folders[0], "marts.practice_daily")) == WRITERS * 2 * 59
    assert rows_of(folders[0], "meta.metrics") == [{"metric": "calls"}]
    assert len({row["folder"] for row in rows_of(folders[0], "control.exports")}) == WRITERS


def die_at(settings: Settings, step: int) -> None:
    """Export, and be killed before this write into the lake."""
    replace, left = Lake.replace, [step]

    def counted(self: Lake, *arguments: object, **more: object) -> None:
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1
        replace(self, *arguments, **more)  # pyright: ignore[reportArgumentType] - handed on

    Lake.replace = counted
    run_export(settings)


def test_killed_before_each_write_the_next_export_goes_on(tmp_path: Path) -> None:
    settings = folder_of(tmp_path / "lake", 0, practices=2, calls=20)
    run_export(settings)
    step, is_killed = 0, True
    while is_killed:
        change(settings, 100 + step)
        process = forked.start(die_at, settings, step)
        process.join()
        is_killed = process.exitcode == -signal.SIGKILL
        assert is_killed or process.exitcode == 0
        [(outcome, _)] = {item for some in outcomes(table_of(settings, CALLS)).values() for item in some}
        assert outcome in {str(100 + step), str(99 + step), "0"}
        run_export(settings)
        assert outcomes(table_of(settings, CALLS)) == {name: {(str(100 + step), 20)} for name in ("f0-0", "f0-1")}
        step += 1
    assert step >= 3


def test_many_practices_are_several_commits_and_each_practice_is_in_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delta, "ROWS_AT_ONCE", 100)
    settings = folder_of(tmp_path / "lake", 0, practices=6, calls=40)

    run_export(settings)

    assert table_of(settings, CALLS).version() == 2  # made, four practices, two practices
    assert outcomes(table_of(settings, CALLS)) == {f"f0-{number}": {("0", 40)} for number in range(6)}
