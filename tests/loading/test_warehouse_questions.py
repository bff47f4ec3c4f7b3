"""The queries of a sync to the warehouse: rows by status, days of calls, mentioned ids."""

from datetime import date, datetime, timedelta

from support.warehouse_with_rows import DAY, HARBOR, START, Filled, call_line

from pipelines.core.steps import (
    CallsPerDay,
    DaysWithState,
    IdsWithStatus,
    MissingRecords,
    ReferencedIds,
    StatusCounts,
)
from pipelines.endpoints import by_name

CLIENTS = by_name("clients")


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


def test_questions_about_days_of_calls(filled: Filled) -> None:
    calls = by_name("phone_calls")
    filled.replace_days(
        call_line(), call_line(), call_line("2025-05-03 10:00", state="In progress"), last=date(2025, 5, 3)
    )
    ask = filled.answer

    assert ask(calls, CallsPerDay(DAY, date(2025, 5, 2))) == {DAY: 2}
    assert ask(calls, DaysWithState(["in_progress", "queued"])) == [date(2025, 5, 3)]


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
