"""The cost of a commit depends on its own rows, not on the number of stored rows; the queries of a sync.

Rows of the greatest length: the memory of a commit does not grow with the rows that the table has already.
"""

import os
import re
from contextlib import closing
from datetime import datetime, timedelta
from hashlib import md5
from pathlib import Path

import polars as pl
import pytest
from support.forked import memory, start
from support.warehouse_with_rows import HARBOR, START, Filled, call_line, call_record
from vetl.core.endpoint import DateWindows, Endpoint
from vetl.core.steps import IdsWithStatus, MissingRecords, ReferencedIds, StatusCounts
from vetl.endpoints import CLIENTS, RECEIVED, REGISTRY, by_name
from vetl.store import connection, warehouse
from vetl.store.connection import MEMORY_FOR_ROWS, attach, limit_memory, memory_for_marts, same_key
from vetl.store.frames import LONG_ROW

MERGED = [item for item in (*REGISTRY, *RECEIVED) if not isinstance(item.strategy, DateWindows)]


def known_clients(filled: Filled) -> list[str]:
    return filled.answer(CLIENTS, ReferencedIds(START, 100))


@pytest.mark.parametrize("endpoint", MERGED, ids=lambda item: item.name)
@pytest.mark.parametrize("keys", [1, 1_500])
def test_the_rows_that_a_batch_meets_are_looked_up_not_searched_for(
    shared: Filled, endpoint: Endpoint, keys: int
) -> None:
    """The sizes are a page of a list and a batch of pages; DuckDB uses an index for at most 50 keys."""
    table, key = endpoint.table, endpoint.key[0]
    if shared.rows(f"select count(*) from raw.{table}") == [(0,)]:
        shared.connection.execute(
            f"insert into raw.{table} by name"
            f" select 'p' || i % 50 as practice_id, md5(i::varchar) as {key} from range(100000) r(i)"
        )
    ids = [md5(str(number * 50).encode()).hexdigest() for number in range(keys)]
    fresh = pl.DataFrame({"practice_id": [f"p{number % 3}" for number in range(keys)], key: ids})
    shared.connection.register("fresh", fresh)

    plan = shared.rows(
        f"explain analyze select stored.rowid from fresh left join raw.{table} as stored"
        f" on {same_key('stored', 'fresh', [key])}"
    )

    assert re.search("Index Scan", plan[0][1])


def test_an_id_is_mentioned_by_rows_of_lists_and_by_the_details_of_calls(filled: Filled) -> None:
    filled.merge("staff_tasks", {"id": "t", "client_id": "of a task"}, {"id": "u", "client_id": ""}, {"id": "v"})
    filled.replace_days(call_line())
    filled.attach(call_record("c", client_id="of a call"))

    assert known_clients(filled) == ["of a call", "of a task"]


def test_a_file_whose_index_is_larger_than_the_memory_limit_takes_in_rows(
    filled: Filled, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB does not evict an index from memory, and ids in random order need all of it: 55 MB in this file."""
    filled.connection.execute(
        "insert into raw.appointments by name"
        " select 'p1' as practice_id, md5(i::varchar) as id, 0 as _row_hash from range(600000) r(i)"
    )
    filled.warehouse.close()
    monkeypatch.setattr(connection, "MEMORY_LIMIT", 40_000_000)
    monkeypatch.setattr(warehouse, "MEMORY_FOR_ROWS", 40_000_000)

    again = Filled(filled.path)
    with closing(again.warehouse):
        for batch in range(5):
            rows = [{"id": md5(f"{batch} {number}".encode()).hexdigest()} for number in range(2_000)]
            assert again.merge("appointments", *rows).inserted == len(rows)


def test_questions_about_statuses_leave_deleted_rows_and_other_practices_out(filled: Filled) -> None:
    tasks = by_name("staff_tasks")
    rows = [
        {"id": "a", "status": "pending", "created_at": "2025-01-03T00:00:00Z"},
        {"id": "b", "status": "pending", "created_at": "2025-01-02T00:00:00Z"},
        {"id": "c", "status": "completed", "created_at": "2025-01-01T00:00:00Z"},
        {"id": "gone", "status": "pending", "created_at": "2024-01-01T00:00:00Z"},
    ]
    filled.merge(tasks, *rows)
    filled.commit(tasks, MissingRecords(["gone"], START))
    filled.another_practice()
    filled.merge(tasks, *rows)
    filled.practice = HARBOR
    ask = filled.answer

    assert ask(tasks, IdsWithStatus(["pending"])) == ["a", "b"]
    assert ask(tasks, IdsWithStatus(["canceled"])) == []
    assert ask(tasks, StatusCounts()) == {"pending": 2, "completed": 1}
    assert filled.warehouse.counts(["p1", "p2"], tasks) == {"p1": (3, 0), "p2": (4, 0)}


def test_referenced_ids_are_unknown_ones_first_then_those_read_longest_ago(filled: Filled) -> None:
    def ask(stale_before: datetime, limit: int = 10) -> list[str]:
        return filled.answer(CLIENTS, ReferencedIds(stale_before, limit))

    filled.merge("staff_tasks", *({"id": n, "client_id": f"c{n % 5}"} for n in range(10)))
    assert ask(START) == ["c0", "c1", "c2", "c3", "c4"]

    filled.now = START
    filled.merge(CLIENTS, {"id": "c3"})
    filled.merge(CLIENTS, {"id": "c1"}, {"id": "c2"})
    filled.commit(CLIENTS, MissingRecords(["c4"], START))
    assert ask(START) == ["c0"]
    assert ask(START + timedelta(minutes=1)) == ["c0", "c4", "c3"]
    assert ask(START + timedelta(days=1), limit=4) == ["c0", "c4", "c3", "c1"]

    filled.now = START + timedelta(days=1)
    filled.merge(CLIENTS, {"id": "c3"})
    assert "c3" not in ask(START + timedelta(days=1)), "an unchanged row was read all the same"


COMMITS, ROWS = 9, 500
"""The rows of these commits are more than DuckDB reads at once, which is 2,048."""
MOST = 200
"""MiB beside those of the process at its start."""


def write_and_measure(path: Path, report: Path) -> None:
    """Commit pages of 16 MiB; write the memory that it took in MiB."""
    before = memory("VmRSS")
    connection = attach(path, lock_wait_seconds=0)
    limit_memory(connection, MEMORY_FOR_ROWS)
    connection.execute("create table texts (page integer, row integer, text varchar)")
    for page in range(COMMITS):
        connection.begin()
        text = f"repeat(range || 'x', {LONG_ROW // 4})"
        connection.execute(f"insert into texts select {page}, range, {text} from range({ROWS}, {2 * ROWS})")
        connection.commit()
    connection.close()
    report.write_text(str(memory("VmHWM") - before), "utf-8")


def test_a_commit_of_long_texts_takes_bounded_memory(tmp_path: Path) -> None:
    report = tmp_path / "report"

    process = start(write_and_measure, tmp_path / "vetl.duckdb", report)
    process.join(120)
    process.kill()

    assert int(report.read_text("utf-8")) < MOST


@pytest.mark.parametrize("most", [40_000_000, 2**60])
def test_marts_take_no_more_memory_than_the_machine_has(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MEMORY_FOR_MARTS", most)
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    assert 0 < int(memory_for_marts().removesuffix("B")) <= min(most, pages)
