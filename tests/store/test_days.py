"""Days of phone calls that are replaced, compared with a plain model of the rows that may change.

Each commit notes the days that it changed, so that a build reads only these days.
"""

from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.examples import examples
from support.warehouse_with_rows import DAY, START, Filled, call_line, call_record, csv_page
from vetl.core.errors import ContractBroken
from vetl.core.pages import Changes
from vetl.core.steps import AttachDetails, MissingRecords, ReplaceDays

NEXT = DAY + timedelta(days=1)
HOUR = timedelta(hours=1)
LIVE = "from raw.phone_calls where _deleted_at is null"


def test_a_changed_call_keeps_its_key_and_its_ids_and_leaves_a_version(filled: Filled) -> None:
    filled.replace_days(call_line(state="In progress", duration_seconds=""), call_line("2025-05-01 11:00"))
    filled.attach(call_record("x", state="in_progress", duration_seconds=None))
    kept = "select call_key, id, client_id, called_at from raw.phone_calls where id is not null"
    before = filled.rows(kept)

    changes = filled.replace_days(call_line(), call_line("2025-05-01 11:00"))

    assert changes == Changes(updated=1, unchanged=1)
    assert filled.rows(kept) == before
    assert filled.rows("select state, _valid_from, _valid_to from history.phone_calls") == [
        ("in_progress", START, START + 2 * HOUR)
    ]


def test_a_call_that_is_gone_is_marked_and_comes_back_under_its_key(filled: Filled) -> None:
    filled.replace_days(call_line(), call_line("2025-05-01 11:00"))
    keys = filled.rows("select call_key from raw.phone_calls order by all")

    assert filled.replace_days(call_line()) == Changes(deleted=1, unchanged=1)
    assert filled.rows("select _deleted_at from raw.phone_calls where _deleted_at is not null") == [
        (START + HOUR,)
    ]
    assert filled.replace_days(call_line(), call_line("2025-05-01 11:00")) == Changes(updated=1, unchanged=1)
    assert filled.rows(f"select call_key {LIVE} order by all") == keys
    assert filled.rows("select * from history.phone_calls") == []


def test_days_without_an_answer_of_their_own_may_be_empty(filled: Filled) -> None:
    """The platform answers 404 to days without calls."""
    filled.replace_days(call_line())

    assert filled.commit("phone_calls", ReplaceDays([], DAY, NEXT, START + HOUR)) == Changes(deleted=1)
    assert filled.commit("phone_calls", ReplaceDays([], DAY, NEXT, START + 2 * HOUR)) == Changes()


def test_ids_and_unknown_fields_are_kept_only_if_the_match_is_certain(filled: Filled) -> None:
    filled.replace_days(call_line(summary="one"), call_line(summary="two"))
    filled.attach(call_record("x", summary="one", recording="r"), call_record("y", summary="two"))

    filled.replace_days(call_line(summary="three"), call_line(summary="four"))

    assert filled.rows(f"select id, created_at, _extra {LIVE}") == [(None, None, None)] * 2


def test_a_twin_that_is_left_alone_is_read_again(filled: Filled) -> None:
    filled.replace_days(call_line(), call_line())
    filled.attach(call_record("x"), call_record("y"))

    filled.replace_days(call_line())

    assert filled.rows(f"select id {LIVE}") == [(None,)]


def test_two_windows_in_one_commit_keep_each_its_read_time(filled: Filled) -> None:
    filled.commit(
        "phone_calls",
        ReplaceDays([csv_page(call_line())], DAY, DAY, START),
        ReplaceDays([csv_page(call_line("2025-05-02 10:00"))], NEXT, NEXT, START + HOUR),
        ReplaceDays([csv_page(call_line(), call_line())], DAY, DAY, START + 2 * HOUR),
    )

    assert filled.rows("select call_date, _loaded_at from raw.phone_calls order by all") == [
        (DAY, START),
        (DAY, START + 2 * HOUR),
        (NEXT, START + HOUR),
    ]


def test_calls_of_days_that_were_not_asked_for_are_refused_whole(filled: Filled) -> None:
    with pytest.raises(ContractBroken, match="2025-05-02 came back for 2025-05-01 to 2025-05-01"):
        filled.replace_days(call_line(), call_line("2025-05-02 10:00"))

    assert filled.rows("select * from raw.phone_calls") == []


def test_a_minute_that_does_not_exist_makes_the_time_zone_doubtful(filled: Filled) -> None:
    day = date(2025, 3, 9)

    changes = filled.replace_days(call_line(f"{day} 02:30"), first=day, last=day)

    assert changes.drift == ("a call's local minute does not exist in America/New_York: is the time zone right?",)


def test_a_bad_row_waits_until_its_day_is_read_well(filled: Filled) -> None:
    bad = call_line(duration_seconds="long")

    assert filled.replace_days(call_line(), bad, bad) == Changes(inserted=1, quarantined=2)
    assert (
        filled.rows("select reason, first_day, resolved_at from control.quarantine")
        == [("Duration: not as the contract writes it", DAY, None)] * 2
    )
    filled.replace_days(call_line(), call_line(), bad)
    open_rows = filled.rows("select resolved_at is null from control.quarantine order by row_key")
    assert open_rows == [(True,), (False,)]


def test_a_day_of_one_call_without_a_readable_date_has_it_in_quarantine(filled: Filled) -> None:
    assert filled.replace_days(call_line("2025-05-01 24:20")) == Changes(quarantined=1)


def test_a_day_that_came_as_records_of_the_json_list_is_the_day_that_the_csv_shows(filled: Filled) -> None:
    """With twins, an empty text and the repeated hour: a CSV of the same calls only changes the order."""
    day = date(2025, 11, 2)
    records = [
        call_record("b", "2025-11-02T06:30:20Z"),
        call_record("a", "2025-11-02T05:30:10Z"),
        call_record("c", "2025-11-02T15:00:00Z", summary="", patient_name=None),
        call_record("d", "2025-11-02T15:00:59Z", summary="", patient_name=None),
    ]

    replaced = ReplaceDays([], day, day, START, rows=records)
    changes = filled.commit("phone_calls", replaced, AttachDetails(records, day, day))

    assert changes == Changes(inserted=4)
    assert filled.rows("select id, called_at::varchar from raw.phone_calls order by id") == [
        ("a", "2025-11-02 05:30:00+00"),
        ("b", "2025-11-02 06:30:00+00"),
        ("c", "2025-11-02 15:00:00+00"),
        ("d", "2025-11-02 15:00:00+00"),
    ]
    night, noon = call_line(f"{day} 01:30"), call_line(f"{day} 10:00", summary="", patient_name="")
    assert filled.replace_days(night, night, noon, noon, first=day, last=day) == Changes(unchanged=4)


def test_a_record_without_a_time_belongs_to_no_day_and_is_set_aside(filled: Filled) -> None:
    records = [call_record("a"), {**call_record("b"), "created_at": None}]

    changes = filled.commit(
        "phone_calls", ReplaceDays([], DAY, DAY, START, rows=records), AttachDetails(records, DAY, DAY)
    )

    assert changes == Changes(inserted=1, quarantined=1)
    assert filled.rows("select reason, first_day, resolved_at from control.quarantine") == [
        ("created_at: missing", DAY, None)
    ]


lines = st.builds(
    call_line,
    minute=st.sampled_from(["2025-05-01 10:00", "2025-05-01 10:01", "2025-05-02 09:00"]),
    phone_number=st.sampled_from(["", "+1", "+2"]),
    state=st.sampled_from(["Ringing", "Completed"]),
    summary=st.sampled_from(["", "one"]),
)


@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(readings=st.lists(st.lists(lines, max_size=5), min_size=1, max_size=5))
def test_after_each_read_raw_equals_the_source_and_no_key_moves_to_another_call(
    shared: Filled, readings: list[list[str]]
) -> None:
    """To read the same rows again, in another order, writes nothing."""
    shared.another_practice()
    mine = f"from raw.phone_calls where practice_id = '{shared.practice.id}'"
    shown = "strftime(called_at_local, '%Y-%m-%d %H:%M'), coalesce(phone_number, ''), state, coalesce(summary, '')"
    identities: dict[str, tuple[object, ...]] = {}
    for reading in readings:
        changes = shared.replace_days(*reading, last=NEXT)

        cells = [line.split(",") for line in reading]
        read = Counter((cell[0], cell[7], cell[3].lower(), cell[10]) for cell in cells)
        assert Counter(shared.rows(f"select {shown} {mine} and _deleted_at is null")) == read
        assert changes.inserted + changes.updated + changes.unchanged == len(reading)
        for key, *identity in shared.rows(f"select call_key, called_at_local, direction, phone_number {mine}"):
            assert identities.setdefault(key, tuple(identity)) == tuple(identity)
        assert shared.rows(f"select count(*) - count(distinct call_key) {mine}") == [(0,)]
        written = shared.rows(f"select rowid, * {mine} order by rowid")
        assert shared.replace_days(*reversed(reading), last=NEXT) == Changes(unchanged=len(reading))
        assert shared.rows(f"select rowid, * {mine} order by rowid") == written
    versions = f"from history.phone_calls where practice_id = '{shared.practice.id}'"
    assert shared.rows(f"{versions} and _valid_from >= _valid_to") == []


SESSION = {
    "id": "s1",
    "status": "active",
    "created_at": "2025-05-02T23:30:00-04:00",
    "updated_at": "2025-05-03T04:00:00Z",
}


def noted(filled: Filled) -> list[tuple[str, date | None]]:
    """Return the noted days and clear them, as a build does."""
    changes = filled.rows("select table_name, day from control.changes order by all")
    filled.connection.execute("delete from control.changes")
    return changes


def test_new_rows_are_noted_by_the_day_of_their_creation_in_utc(filled: Filled) -> None:
    filled.merge("booking_sessions", SESSION)
    filled.replace_days(call_line("2025-05-01 23:59"))
    filled.merge("clients", {"id": "c1"})

    assert noted(filled) == [("booking_sessions", date(2025, 5, 3)), ("clients", None), ("phone_calls", DAY)]


def test_a_row_that_moves_is_noted_for_both_days_and_one_that_goes_for_its_own(filled: Filled) -> None:
    filled.merge("booking_sessions", SESSION)
    noted(filled)
    filled.merge("booking_sessions", SESSION)
    assert noted(filled) == []
    filled.merge("booking_sessions", {**SESSION, "created_at": None, "updated_at": "2025-05-04T04:00:00Z"})

    assert [("booking_sessions", date(2025, 5, 3)), ("booking_sessions", None)] == noted(filled)
    filled.commit("booking_sessions", MissingRecords(["s1"], filled.now))
    assert noted(filled) == [("booking_sessions", None)]


def test_a_day_of_calls_is_noted_when_one_changes_goes_comes_back_or_gets_its_id(filled: Filled) -> None:
    filled.replace_days(call_line())
    noted(filled)
    filled.replace_days(call_line())
    assert noted(filled) == []
    for lines in ([call_line(outcome="Voicemail")], [], [call_line(outcome="Voicemail")]):
        filled.replace_days(*lines)

        assert noted(filled) == [("phone_calls", DAY)]
    filled.attach(call_record("call-1"))
    assert noted(filled) == [("phone_calls", DAY)]
