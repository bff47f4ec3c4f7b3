"""Details of the JSON list, attached to the calls of the CSV as multisets, so that no id is lost.

Undeclared fields from both lists are side by side in `_extra`.
"""

import json
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.examples import examples
from support.warehouse_with_rows import DAY, Filled, call_line, call_record, csv_page
from vetl.core.pages import Changes, Page, Window, WindowKind
from vetl.core.steps import AttachDetails, DaysLackingDetails, ReplaceDays
from vetl.reading.paging import Pass, certificate


def test_details_are_attached_without_a_version_or_a_later_load(filled: Filled) -> None:
    filled.replace_days(call_line())
    loaded = filled.rows("select _loaded_at, _row_hash from raw.phone_calls")

    assert filled.attach(call_record("x", remote_client_id="r1", patient_id=7)) == Changes()

    assert filled.rows(
        "select id, created_at, client_id, remote_client_id, patient_id, called_at::varchar from raw.phone_calls"
    ) == [("x", datetime(2025, 5, 1, 14, 0, 10, tzinfo=UTC), "client of x", "r1", "7", "2025-05-01 14:00:00+00")]
    assert filled.rows("select _loaded_at, _row_hash from raw.phone_calls") == loaded
    assert filled.rows("select * from history.phone_calls") == []


def test_a_call_that_the_csv_shows_otherwise_is_matched_by_minute_direction_and_phone(filled: Filled) -> None:
    filled.replace_days(call_line(summary="cut sho"), call_line(phone_number="+1", summary="another"))

    filled.attach(call_record("x", summary="cut short"))

    assert filled.rows("select id, summary from raw.phone_calls where id is not null") == [("x", "cut sho")]


@pytest.mark.parametrize("shown", ["(555) 000-0050", "5550000050", "1 555 000 0050"])
def test_a_number_of_the_csv_may_be_written_otherwise(filled: Filled, shown: str) -> None:
    filled.replace_days(call_line(phone_number=shown), call_line(phone_number="(555) 000-0051"))

    filled.attach(call_record("x", phone_number="+15550000050"), call_record("y", phone_number="+15550000051"))

    assert filled.rows("select id, phone_number from raw.phone_calls order by id")[0] == ("x", shown)


def test_equal_calls_have_their_ids_although_the_csv_writes_their_number_otherwise(filled: Filled) -> None:
    filled.replace_days(call_line(phone_number="5550000050"), call_line(phone_number="5550000050"))

    filled.attach(call_record("x", phone_number="+15550000050"), call_record("y", phone_number="+15550000050"))

    assert filled.rows("select id from raw.phone_calls order by id") == [("x",), ("y",)]


def test_no_guess_is_made_between_two_candidates(filled: Filled) -> None:
    filled.replace_days(call_line(summary="one"), call_line(summary="two"))

    filled.attach(call_record("x", summary="three"))

    assert filled.rows("select count(id) from raw.phone_calls") == [(0,)]


@pytest.mark.parametrize(
    ("shown", "stored"),
    [
        (("completed", "ringing"), [("x", "completed"), ("y", "ringing")]),
        (("completed", "completed"), [("x", "ringing"), ("y", "completed")]),
    ],
    ids=["in the other order", "both look alike"],
)
def test_an_id_belongs_to_one_call(filled: Filled, shown: tuple[str, str], stored: list[tuple[str, str]]) -> None:
    """When the day was matched, a new call of the same minute took the place of the first; the ids show this."""
    filled.replace_days(call_line(state="Ringing"))
    filled.attach(call_record("x", state="ringing"))
    filled.replace_days(call_line(state="Ringing"), call_line(state="Completed"))

    filled.attach(call_record("x", state=shown[0]), call_record("y", "2025-05-01T14:00:30Z", state=shown[1]))

    assert filled.rows("select id, state from raw.phone_calls order by id") == stored


def test_a_deleted_call_gives_up_the_id_of_its_living_twin(filled: Filled) -> None:
    filled.replace_days(call_line(), call_line())
    filled.attach(call_record("x"), call_record("y"))
    filled.replace_days(call_line())
    ((held,),) = filled.rows("select id from raw.phone_calls where _deleted_at is not null")

    filled.attach(call_record(held))

    living = filled.rows("select id, _deleted_at is null from raw.phone_calls order by id")
    assert living == [(held, True), (None, False)]


def test_a_bad_record_is_set_aside_and_the_rest_is_attached(filled: Filled) -> None:
    filled.replace_days(call_line())

    assert filled.attach({"created_at": "2025-05-01T14:00:10Z"}, call_record("x")) == Changes(quarantined=1)
    assert filled.rows("select id from raw.phone_calls") == [("x",)]


def test_most_calls_without_counterpart_make_the_time_zone_doubtful(filled: Filled) -> None:
    hours = range(10, 18)
    filled.replace_days(*(call_line(f"2025-05-01 {hour}:00", phone_number=f"+{hour}") for hour in hours))

    # The source is in Chicago: 10:00 in the CSV was 15:00 UTC.
    changes = filled.attach(
        *(call_record(str(hour), f"2025-05-01T{hour + 5}:00:10Z", phone_number=f"+{hour}") for hour in hours)
    )

    (warning,) = changes.drift
    assert warning.startswith("most calls of the JSON list have no counterpart")
    assert warning.endswith("in America/New_York: is the time zone right?")


TURNS = {
    "America/New_York": datetime(2025, 11, 2, 5, tzinfo=UTC),
    "Australia/Lord_Howe": datetime(2025, 4, 5, 14, 30, tzinfo=UTC),
    "Europe/London": datetime(2025, 10, 26, 0, tzinfo=UTC),
    "America/Havana": datetime(2025, 11, 2, 4, tzinfo=UTC),
}
"""Return a zone that turns its clock back by an hour or half an hour, and a time one hour before."""
Source = list[tuple[int, int, str, str]]
calls = st.lists(
    st.tuples(
        st.integers(0, 4).map(lambda half: 30 * half),
        st.integers(0, 59),
        st.sampled_from(["+1", "+2"]),
        st.sampled_from(["ringing", "completed"]),
    ),
    max_size=8,
)


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(zone=st.sampled_from(list(TURNS)), source=calls, order=st.randoms(use_true_random=False))
def test_a_source_at_rest_gives_every_call_its_id(shared: Filled, zone: str, source: Source, order: Any) -> None:
    """With twins and repeated minutes: each id is stored once, on a row like its record, and written once."""
    shared.another_practice(zone)
    real = [(TURNS[zone] + timedelta(minutes=late), second, phone, state) for late, second, phone, state in source]
    records = [
        call_record(f"id {n}", (minute + timedelta(seconds=second)).isoformat(), phone_number=phone, state=state)
        for n, (minute, second, phone, state) in enumerate(real)
    ]
    shown = [
        {"minute": f"{minute.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}", "phone_number": phone, "state": state}
        for minute, _, phone, state in real
    ]
    order.shuffle(shown)
    first, last = (TURNS[zone].date() + timedelta(days=days) for days in (-1, 1))
    shared.replace_days(*(call_line(**line) for line in shown), first=first, last=last)

    shared.attach(*records, first=first, last=last)

    mine = f"from raw.phone_calls where practice_id = '{shared.practice.id}' and _deleted_at is null"
    stored = shared.rows(f"select id, created_at, called_at, phone_number, state {mine}")
    assert Counter(stored) == Counter(
        (f"id {n}", minute + timedelta(seconds=second), minute, phone, state)
        for n, (minute, second, phone, state) in enumerate(real)
    )
    written = shared.rows(f"select rowid, * {mine} order by rowid")
    shared.attach(*reversed(records), first=first, last=last)
    assert shared.rows(f"select rowid, * {mine} order by rowid") == written


def test_days_that_lack_details_are_those_with_a_call_without_id(filled: Filled) -> None:
    filled.replace_days(call_line(), call_line("2025-05-02 10:00"), last=DAY + timedelta(days=1))
    filled.attach(call_record("x"))

    lacking = filled.answer("phone_calls", DaysLackingDetails(DAY, date(2025, 5, 9)))

    assert lacking == {date(2025, 5, 2): 1}


def test_a_day_lacks_details_again_after_it_changed(filled: Filled) -> None:
    """A client who is matched later has a name in the CSV, and an id in the JSON list."""
    filled.replace_days(call_line(client_name=""))
    attached(filled, call_record("x", client_name="", client_id=None))
    asked = DaysLackingDetails(DAY, DAY)
    assert filled.answer("phone_calls", asked) == {}

    filled.replace_days(call_line())

    assert filled.answer("phone_calls", asked) == {DAY: 1}
    attached(filled, call_record("x"))
    assert filled.answer("phone_calls", asked) == {}
    assert filled.rows("select id, client_id from raw.phone_calls") == [("x", "client of x")]


def attached(filled: Filled, record: dict[str, Any]) -> None:
    """Store them like a sync, with the certificate of their window."""
    page = Page((record,), 1, 100, filled.now)
    evidence = certificate(Pass(Window(DAY, DAY), (page,), 100), WindowKind.DETAILS)
    filled.commit("phone_calls", AttachDetails([record], DAY, DAY, certificate=evidence))


def replace(filled: Filled, *lines: str, **more: str) -> Changes:
    return filled.commit("phone_calls", ReplaceDays([csv_page(*lines, **more)], DAY, DAY, filled.now))


def extras(filled: Filled) -> list[Any]:
    rows = filled.rows("select _extra from raw.phone_calls where _deleted_at is null order by id")
    return [text and json.loads(text) for (text,) in rows]


def test_undeclared_fields_of_both_lists_are_kept_if_a_day_is_read_again(filled: Filled) -> None:
    assert replace(filled, call_line(), Agent="A").drift == ("new field Agent",)
    assert filled.attach(call_record("x", recording="r")).drift == ("new field recording",)
    before = filled.rows("select rowid, * from raw.phone_calls")

    assert replace(filled, call_line(), Agent="A").unchanged == 1
    assert filled.rows("select rowid, * from raw.phone_calls") == before
    replace(filled, call_line(), Agent="B")

    assert extras(filled) == [{"Agent": "B", "recording": "r"}]
    assert filled.rows("select * from history.phone_calls") == [], "what nobody declared makes no version"


def test_a_call_that_changes_keeps_undeclared_fields_with_its_id(filled: Filled) -> None:
    replace(filled, call_line())
    filled.attach(call_record("x", recording="r"))

    replace(filled, call_line(summary="called back"))

    assert filled.rows("select id, summary from raw.phone_calls") == [("x", "called back")]
    assert extras(filled) == [{"recording": "r"}]
