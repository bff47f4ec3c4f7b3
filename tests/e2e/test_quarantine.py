"""Rows that do not fit their model are quarantined; changes without a trace are found by a reconcile."""

import json
from datetime import timedelta
from typing import Any

import duckdb
import pytest
from support.warehouse_with_rows import ask
from vetl.jobs.quarantined_rows import quarantined_rows, retry
from vetl.store.frames import LONG_ROW, LONG_ROWS, TOO_LONG


def test_a_bad_row_loses_only_itself_and_a_retry_stores_it_once_it_is_valid(opened: Any) -> None:
    """After an upgrade the model may accept the row; here the stored payload is corrected instead."""
    practices = opened(practices=1, calls=60, days=8)
    row = practices.platform.truth("loc-001", "staff_tasks")[3]
    practices.platform.update("loc-001", "staff_tasks", row["id"], {"cancellation_allowed": "perhaps"})

    result = practices.sync(endpoints=["staff_tasks"])

    assert result.exit_code == 3
    place = practices.settings.warehouse
    lock = place.path.with_name(f"{place.path.name}.lock")
    lock.unlink()
    lock.mkdir()  # as little use as in a folder that may only be read
    (quarantined,) = quarantined_rows(place)
    lock.rmdir()
    assert (quarantined.endpoint, quarantined.row_key) == ("staff_tasks", row["id"])
    assert quarantined.reason.startswith("cancellation_allowed")
    assert json.loads(quarantined.payload)["cancellation_allowed"] == "perhaps"
    assert retry(practices.settings, lambda _: None).exit_code == 3

    with duckdb.connect(str(practices.warehouse)) as connection:
        connection.execute("update control.quarantine set payload = replace(payload, '\"perhaps\"', 'true')")
    retried = retry(practices.settings, lambda _: None)

    assert (retried.before, retried.held, retried.exit_code) == (1, (), 0)
    assert retried.changes.inserted == 1


def test_a_quarantined_row_is_reported_until_it_comes_in_well(opened: Any) -> None:
    """Their window is closed, so no later sync reads these rows again."""
    practices = opened(practices=1, calls=60, days=8)
    row = practices.platform.truth("loc-001", "booking_sessions")[3]
    practices.platform.update("loc-001", "booking_sessions", row["id"], {"created_at": "perhaps"})
    practices.platform.advance(timedelta(hours=1))
    practices.sync(endpoints=["booking_sessions"])
    practices.platform.advance(timedelta(hours=1))

    without_news = practices.sync(endpoints=["booking_sessions"])
    other_list = practices.sync(endpoints=["ai_outbound"])
    well = {"created_at": row["created_at"], "updated_at": practices.platform.now()}
    practices.platform.update("loc-001", "booking_sessions", row["id"], well)
    mended = practices.sync(endpoints=["booking_sessions"])

    (result,) = without_news.results
    assert (result.changes.quarantined, result.held, without_news.exit_code) == (0, 1, 3)
    assert other_list.exit_code == 0
    assert (mended.results[0].held, mended.exit_code) == (0, 0)


def test_longer_rows_than_the_warehouse_takes_lose_only_themselves(opened: Any) -> None:
    practices = opened(practices=1, calls=60, days=8)
    truth = practices.platform.truth
    (task, long_task, *others), call = truth("loc-001", "staff_tasks"), truth("loc-001", "phone_calls")[5]
    practices.platform.update("loc-001", "staff_tasks", task["id"], {"details": "x" * LONG_ROWS})
    practices.platform.update("loc-001", "staff_tasks", long_task["id"], {"details": "x" * 6 * LONG_ROW})
    practices.platform.update("loc-001", "phone_calls", call["id"], {"summary": "y" * LONG_ROWS})

    first = practices.sync(endpoints=["staff_tasks", "phone_calls"])
    long = quarantined_rows(practices.settings.warehouse)
    retried = retry(practices.settings, lambda _: None)

    assert first.exit_code == retried.exit_code == 3
    assert {row.reason for row in long} == {TOO_LONG}
    assert task["id"] in {row.row_key for row in long}
    assert {row.row_key for row in retried.held} == {row.row_key for row in long}
    assert max(len(row.payload) for row in retried.held) < LONG_ROW
    assert ask(practices.warehouse, "select count(*) from raw.staff_tasks") == [(1 + len(others),)]


def test_bad_calls_are_read_again_from_the_source(opened: Any) -> None:
    practices = opened(practices=1, calls=60, days=8)
    row = practices.platform.truth("loc-001", "phone_calls")[5]
    well = row["duration_seconds"]
    practices.platform.update("loc-001", "phone_calls", row["id"], {"duration_seconds": 10**12})
    result = practices.sync(endpoints=["phone_calls"])
    assert result.exit_code == 3
    practices.platform.update("loc-001", "phone_calls", row["id"], {"duration_seconds": well})

    retried = retry(practices.settings, lambda _: None)

    assert retried.exit_code == 0
    assert quarantined_rows(practices.settings.warehouse) == []


BAD = {
    "phone_calls": {"duration_seconds": 10**12},
    "booking_sessions": {"created_at": "perhaps"},
    "appointments": {"created_at": "perhaps"},
    "ai_outbound": {"created_at": "perhaps"},
    "staff_tasks": {"cancellation_allowed": "perhaps"},
    "clients": {"name": ["perhaps"]},
    "patients": {"name": ["perhaps"]},
}
COST = {
    "phone_calls": 1,
    "booking_sessions": 2,
    "appointments": 2,
    "ai_outbound": 7,
    "staff_tasks": 4,
    "clients": 0,
    "patients": 0,
}
"""Requests of a sync without news of a practice without bad rows."""


def test_rows_in_quarantine_cost_no_later_request_and_are_released_if_the_source_drops_them(opened: Any) -> None:
    """The totals by status never agreed again: 34 requests at each tick for a list that costs 7."""
    practices = opened(practices=1, calls=600)
    platform, spoiled = practices.platform, dict[str, list[str]]()
    tasks = platform.truth("loc-001", "staff_tasks")
    for name, values in BAD.items():
        known = {task[f"{name[:-1]}_id"] for task in tasks} if name in ("clients", "patients") else set()
        rows = [row for row in platform.truth("loc-001", name) if not known or row["id"] in known]
        spoiled[name] = [rows[3]["id"], rows[-3]["id"]]
        for row in (rows[3], rows[-3]):
            last = {"updated_at": row["updated_at"]} if "updated_at" in row else {}
            platform.update("loc-001", name, row["id"], values | last)
    for _ in range(2):
        practices.sync()
        platform.advance(timedelta(minutes=5))
    result = practices.sync()

    assert {one.endpoint for one in result.results if one.held >= 2} == BAD.keys()
    assert {one.endpoint: one.requests for one in result.results} == COST

    for name in ("staff_tasks", "ai_outbound"):
        for identity in spoiled[name]:
            platform.delete("loc-001", name, identity)
    released = practices.sync(endpoints=["staff_tasks", "ai_outbound"], reconcile="full")

    assert [one.held for one in released.results] == [0, 0]


SILENT_EDIT = {
    "phone_calls": "summary",
    "booking_sessions": "referral_source",
    "appointments": "client_email",
    "ai_outbound": "context",
    "staff_tasks": "description",
}


def some_row(practices: Any, practice: str, name: str, days_ago: int, but: str = "") -> dict[str, Any]:
    """Return a settled row of about that age, with another id than `but`."""
    until = (practices.platform.now() - timedelta(days=days_ago)).isoformat()
    rows = [
        row
        for row in practices.platform.truth(practice, name)
        if row.get("updated_at", row["created_at"]) < until
        and row["id"] != but
        and row.get("status") not in ("active", "pending", "received", "queued", "in_progress")
    ]
    return max(rows, key=lambda row: row["created_at"])


@pytest.mark.parametrize(("full", "days_ago"), [("recent", 10), ("full", 45)])
def test_edits_and_deletions_without_a_trace_are_repaired_and_recorded(
    opened: Any, full: str, days_ago: int
) -> None:
    practices = opened(practices=1, calls=800)
    practices.sync()
    for name, field in SILENT_EDIT.items():
        edited = some_row(practices, "loc-001", name, days_ago)
        practices.platform.update("loc-001", name, edited["id"], {field: "restated"})
        deleted = some_row(practices, "loc-001", name, days_ago + 3, but=edited["id"])
        practices.platform.delete("loc-001", name, deleted["id"])
    practices.platform.advance(timedelta(minutes=5))

    result = practices.sync(reconcile=full)

    assert practices.differences() == []
    assert result.exit_code == 0, result
    recorded = "select endpoint, kind, array_to_string(columns, ',') from control.restatements"
    vanished = {(name, "vanished", "") for name in SILENT_EDIT}
    changed = {(name, "changed", field) for name, field in SILENT_EDIT.items()}
    assert set(ask(practices.warehouse, recorded)) == vanished | changed, "other rows are restated"


def test_some_days_alone_are_read_again(opened: Any) -> None:
    practices = opened(practices=1, calls=800)
    practices.sync()
    edited = {
        name: [some_row(practices, "loc-001", name, days_ago)["id"] for days_ago in (45, 10)]
        for name in ("phone_calls", "booking_sessions", "appointments")
    }
    for name, ids in edited.items():
        for identity in ids:
            practices.platform.update("loc-001", name, identity, {SILENT_EDIT[name]: "restated"})
    practices.platform.advance(timedelta(minutes=5))

    result = practices.sync(since=practices.today - timedelta(days=55), until=practices.today - timedelta(days=40))

    assert result.exit_code == 0
    for name in edited:
        seen = f"select count(*) from raw.{name} where {SILENT_EDIT[name]} = 'restated'"
        assert ask(practices.warehouse, seen) == [(1,)], name
