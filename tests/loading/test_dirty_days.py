"""Each commit notes the days that it changed, so that a build reads only these days."""

from datetime import date

from support.warehouse_with_rows import DAY, Filled, call_line, call_record

from pipelines.core.steps import MissingRecords

SESSION = {
    "id": "s1",
    "status": "active",
    "created_at": "2025-05-02T23:30:00-04:00",
    "updated_at": "2025-05-03T04:00:00Z",
}


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


def test_a_row_that_moves_is_noted_for_both_days_and_one_that_goes_for_its_own(filled: Filled) -> None:
    filled.merge("booking_sessions", SESSION)
    take_noted_days(filled)
    filled.merge("booking_sessions", SESSION)
    assert take_noted_days(filled) == []
    filled.merge("booking_sessions", {**SESSION, "created_at": None, "updated_at": "2025-05-04T04:00:00Z"})

    assert [("booking_sessions", date(2025, 5, 3)), ("booking_sessions", None)] == take_noted_days(filled)
    filled.commit("booking_sessions", MissingRecords(["s1"], filled.now))
    assert take_noted_days(filled) == [("booking_sessions", None)]


def test_a_day_of_calls_is_noted_when_one_changes_goes_comes_back_or_gets_its_id(filled: Filled) -> None:
    filled.replace_days(call_line())
    take_noted_days(filled)
    filled.replace_days(call_line())
    assert take_noted_days(filled) == []
    for lines in ([call_line(outcome="Voicemail")], [], [call_line(outcome="Voicemail")]):
        filled.replace_days(*lines)

        assert take_noted_days(filled) == [("phone_calls", DAY)]
    filled.attach(call_record("call-1"))
    assert take_noted_days(filled) == [("phone_calls", DAY)]
