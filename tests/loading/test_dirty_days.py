"""Each commit notes the days that it changed, so that a build reads only these days."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from support.warehouse_with_rows import DAY, Filled, call_line, call_record

from pipelines.core.errors import ContractBroken
from pipelines.core.steps import MissingRecords

SESSION = {
    "id": "s1",
    "status": "active",
    "created_at": "2025-05-02T23:30:00-04:00",
    "updated_at": "2025-05-03T04:00:00Z",
}


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    warehouse = Filled(tmp_path / "vetl.duckdb")
    yield warehouse
    warehouse.warehouse.close()


def take_noted_days(filled: Filled) -> list[tuple[str, date | None]]:
    """Return the noted days and clear them, as a build does."""
    changes = filled.rows("select table_name, day from control.changes order by all")
    filled.connection.execute("delete from control.changes")
    return changes


def test_new_rows_are_noted_by_the_day_of_their_creation_in_utc(filled: Filled) -> None:
    filled.merge("booking_sessions", SESSION)
    filled.replace_days(call_line("2025-05-01 23:59"))
    filled.merge("clients", {"id": "c1"})

    assert [("booking_sessions", date(2025, 5, 3)), ("clients", None), ("phone_calls", DAY)] == take_noted_days(
        filled
    )


def test_a_row_that_is_read_again_unchanged_is_not_noted(filled: Filled) -> None:
    filled.merge("booking_sessions", SESSION)
    filled.replace_days(call_line())
    take_noted_days(filled)
    filled.merge("booking_sessions", SESSION)
    filled.replace_days(call_line())

    assert take_noted_days(filled) == []


def test_a_row_that_moves_is_noted_for_both_days(filled: Filled) -> None:
    filled.merge("booking_sessions", SESSION)
    take_noted_days(filled)
    filled.merge("booking_sessions", {**SESSION, "created_at": None, "updated_at": "2025-05-04T04:00:00Z"})

    assert [("booking_sessions", date(2025, 5, 3)), ("booking_sessions", None)] == take_noted_days(filled)


def test_a_day_of_calls_is_noted_when_one_changes_goes_or_comes_back(filled: Filled) -> None:
    filled.replace_days(call_line())
    take_noted_days(filled)
    for lines in ([call_line(outcome="Voicemail")], [], [call_line(outcome="Voicemail")]):
        filled.replace_days(*lines)

        assert take_noted_days(filled) == [("phone_calls", DAY)]


def test_ids_that_are_attached_later_are_noted(filled: Filled) -> None:
    filled.replace_days(call_line())
    take_noted_days(filled)
    filled.attach(call_record("call-1"))

    assert take_noted_days(filled) == [("phone_calls", DAY)]


def test_a_deleted_row_is_noted(filled: Filled) -> None:
    filled.merge("staff_tasks", {"id": "t1", "created_at": "2025-05-05T10:00:00Z"})
    take_noted_days(filled)
    filled.commit("staff_tasks", MissingRecords(["t1"], filled.now))

    assert [("staff_tasks", date(2025, 5, 5))] == take_noted_days(filled)


def test_a_commit_that_fails_notes_nothing(filled: Filled) -> None:
    with pytest.raises(ContractBroken):
        filled.replace_days(call_line("2025-07-01 10:00"))

    assert take_noted_days(filled) == []
