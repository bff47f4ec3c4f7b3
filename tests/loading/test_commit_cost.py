"""The cost of a commit depends on its own rows, not on the number of stored rows."""

import re
from contextlib import closing
from hashlib import md5
from pathlib import Path

import polars as pl
import pytest
from support.warehouse_with_rows import START, Filled, call_line, call_record

from pipelines.core.endpoint import DateWindows, Endpoint
from pipelines.core.steps import MissingRecords, ReferencedIds
from pipelines.endpoints import REGISTRY
from pipelines.endpoints.clients import CLIENTS
from pipelines.endpoints.received import RECEIVED
from pipelines.loading import connection, warehouse
from pipelines.loading.connection import same_key

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


def test_an_id_that_the_source_does_not_have_any_more_waits_like_one_that_it_never_had(filled: Filled) -> None:
    filled.now = START
    filled.merge(CLIENTS, {"id": "a"})
    filled.commit(CLIENTS, MissingRecords(["a"], START))

    assert filled.rows("select * from control.lookups where endpoint = 'clients'") == []


def test_a_warehouse_of_an_earlier_vetl_is_searched_for_mentions_once(tmp_path: Path) -> None:
    path = tmp_path / "vetl.duckdb"
    before = Filled(path)
    before.merge("staff_tasks", {"id": 1, "client_id": "a"}, {"id": 2, "client_id": "b"})
    before.now = START
    before.merge(CLIENTS, {"id": "b"})
    before.connection.execute("delete from control.mentions")
    before.connection.execute("delete from control.meta where name = 'mentions_watched'")
    before.warehouse.close()

    after = Filled(path)

    assert known_clients(after) == ["a"]
    after.connection.execute("delete from control.mentions")
    after.warehouse.close()
    again = Filled(path)
    assert known_clients(again) == []
    again.warehouse.close()


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
