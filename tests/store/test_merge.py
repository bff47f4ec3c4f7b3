"""Rows merged by key into raw, with history, in a real file.

Practices that share a statement end with the same rows as practices that are stored alone.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from support.examples import examples
from support.warehouse_with_rows import DAY, START, Filled, call_line, call_record, csv_page
from vetl.core.endpoint import Endpoint
from vetl.core.pages import Changes
from vetl.core.steps import AttachDetails, MergeRows, MissingRecords, ReplaceDays, Save
from vetl.endpoints import by_name
from vetl.store import saving

HOUR = timedelta(hours=1)


def session(identity: str, updated: int | None = 0, **fields: Any) -> dict[str, Any]:
    """Return a booking session that was updated so many minutes after the start of 2025."""
    moment = None if updated is None else datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=updated)
    return {"id": identity, "updated_at": moment and moment.isoformat(), **fields}


def test_a_superseded_version_goes_to_history_with_its_validity(filled: Filled) -> None:
    for minute, status in enumerate(("active", "completed", "abandoned")):
        filled.merge("booking_sessions", session("a", minute, status=status))

    assert filled.rows("select status, _loaded_at from raw.booking_sessions") == [("abandoned", START + 2 * HOUR)]
    assert filled.rows(
        "select status, _valid_from, _valid_to from history.booking_sessions order by _valid_from"
    ) == [("active", START, START + HOUR), ("completed", START + HOUR, START + 2 * HOUR)]


def test_a_derived_status_changes_without_updated_at_moving(filled: Filled) -> None:
    """Contract: Booking session. An expired session keeps its `updated_at`."""
    filled.merge("booking_sessions", session("a", 5, status="active"))

    assert filled.merge("booking_sessions", session("a", 5, status="abandoned")) == Changes(updated=1)


def test_of_two_versions_in_one_batch_the_later_updated_stays_else_the_later_read(filled: Filled) -> None:
    later, earlier = START + HOUR, START
    filled.commit(
        "booking_sessions",
        MergeRows([session("a", 2, stage="new"), session("b", 1, stage="second read")], later),
        MergeRows([session("a", 1, stage="old"), session("b", 1, stage="first read")], earlier),
    )

    stored = filled.rows("select id, stage, _loaded_at from raw.booking_sessions order by id")
    assert stored == [("a", "new", later), ("b", "second read", later)]


@pytest.mark.parametrize(("minutes", "stage"), [(14, "later"), (16, "put back"), (-300, "put back")])
def test_an_update_that_goes_back_is_believed_once_no_answer_can_be_late(
    filled: Filled, minutes: int, stage: str
) -> None:
    """A replica may lag; but a restored back-up puts `updated_at` back, and so does another zone."""
    updated = (START - datetime(2025, 1, 1, tzinfo=UTC)) // timedelta(minutes=1)
    filled.merge("booking_sessions", session("a", updated, stage="later"))

    back = MergeRows([session("a", updated - 1, stage="put back")], START + timedelta(minutes=minutes))
    filled.commit("booking_sessions", back)

    assert filled.rows("select stage from raw.booking_sessions") == [(stage,)]


def test_a_deleted_row_comes_back_in_any_version(filled: Filled) -> None:
    filled.merge("booking_sessions", session("a", YEARS, stage="later"))
    filled.commit("booking_sessions", MissingRecords(["a"], filled.now))

    filled.merge("booking_sessions", session("a", YEARS - 1, stage="earlier"))

    assert filled.rows("select stage, _deleted_at from raw.booking_sessions") == [("earlier", None)]


def test_rows_that_come_late_into_a_sealed_window_are_counted(filled: Filled) -> None:
    sealed = datetime(2025, 1, 1, 0, 10, tzinfo=UTC)
    filled.merge("booking_sessions", session("known", 5))

    changes = filled.merge(
        "booking_sessions", session("known", 5), session("late", 5), session("in time", 10), sealed_before=sealed
    )

    assert changes == Changes(inserted=2, unchanged=1, late=1, restated=1)


def test_a_row_that_the_source_does_not_have_is_marked_and_comes_back(filled: Filled) -> None:
    filled.merge("booking_sessions", session("a"))

    missing = MissingRecords(["a", "never seen"], filled.now)
    assert filled.commit("booking_sessions", missing) == Changes(deleted=1, restated=1)
    assert filled.rows("select _deleted_at from raw.booking_sessions") == [(START + HOUR,)]
    assert filled.merge("booking_sessions", session("a")) == Changes(updated=1)
    assert filled.rows("select _deleted_at, _loaded_at from raw.booking_sessions") == [(None, START + 2 * HOUR)]
    assert filled.rows("select * from history.booking_sessions") == []


def test_null_and_empty_text_are_different_values(filled: Filled) -> None:
    filled.merge("booking_sessions", session("a", stage=None))

    assert filled.merge("booking_sessions", session("a", stage="")) == Changes(updated=1)


def test_an_unknown_field_makes_no_version_but_is_stored_and_reported_once(filled: Filled) -> None:
    filled.merge("booking_sessions", session("a"))

    changes = filled.merge("booking_sessions", session("a", mood="good"))

    assert changes == Changes(updated=1, drift=("new field mood",))
    assert filled.rows("select _extra, _loaded_at from raw.booking_sessions") == [('{"mood":"good"}', START)]
    assert filled.rows("select * from history.booking_sessions") == []
    assert filled.merge("booking_sessions", session("a", mood="good")) == Changes(unchanged=1)


def test_an_unknown_enum_value_is_stored_and_reported(filled: Filled) -> None:
    changes = filled.merge("booking_sessions", session("a", status="paused"))

    assert changes == Changes(inserted=1, drift=("new value paused in status",))
    assert filled.rows("select kind, name, value from control.schema_changes") == [
        ("new_value", "status", "paused")
    ]


YEARS = 10 * 365 * 24 * 60
versions = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 5)).map(
        lambda pair: session(pair[0], YEARS + pair[1], stage=f"stage {pair[1]}")
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=versions, data=st.data())
def test_any_order_repetition_and_cut_of_batches_gives_the_same_table(
    shared: Filled, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Each version of a row has another `updated_at` here, so that the order of reading must not matter.

    The rows were just updated: only then may an answer be older than one that was read before it.
    """
    latest = {row["id"]: row["stage"] for row in sorted(rows, key=lambda row: row["updated_at"])}
    for _ in range(2):
        shared.another_practice()
        order = data.draw(st.permutations([*rows, *data.draw(st.lists(st.sampled_from(rows), max_size=4))]))
        for batch in cuts(order, data):
            shared.now = datetime(2025, 1, 1, tzinfo=UTC) + timedelta(minutes=YEARS)
            shared.merge("booking_sessions", *batch)

        stored = shared.rows(
            f"select id, stage from raw.booking_sessions where practice_id = '{shared.practice.id}'"
        )
        assert sorted(stored) == sorted(latest.items())


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=versions, data=st.data())
def test_history_and_raw_together_hold_every_version_once(
    shared: Filled, rows: list[dict[str, Any]], data: st.DataObject
) -> None:
    """To read the last versions again writes nothing."""
    shared.another_practice()
    expected: dict[str, list[str]] = {}
    for batch in cuts(sorted(rows, key=lambda row: row["updated_at"]), data):
        # Only the last version of a row in a batch is stored.
        last = {row["id"]: row["stage"] for row in batch}
        for identity, stage in last.items():
            if expected.get(identity, [None])[-1] != stage:
                expected.setdefault(identity, []).append(stage)
        shared.merge("booking_sessions", *batch)

    mine = f"where practice_id = '{shared.practice.id}'"
    stored = shared.rows(f"select rowid, * from raw.booking_sessions {mine} order by rowid")
    latest = {row["id"]: row for row in sorted(rows, key=lambda row: row["updated_at"])}
    assert shared.merge("booking_sessions", *latest.values()) == Changes(unchanged=len(latest))
    assert shared.rows(f"select rowid, * from raw.booking_sessions {mine} order by rowid") == stored
    histories = shared.rows(
        f"select id, list(stage order by loaded) from ("
        f" select id, stage, _loaded_at as loaded from raw.booking_sessions {mine}"
        f" union all select id, stage, _valid_from from history.booking_sessions {mine}) group by id"
    )
    assert dict(histories) == expected


def cuts(rows: Any, data: st.DataObject) -> list[list[Any]]:
    ends = sorted({*data.draw(st.sets(st.integers(1, len(rows)), max_size=3)), len(rows)})
    return [list(rows[start:end]) for start, end in zip([0, *ends], ends, strict=False)]


ZONES = ("America/New_York", "America/Los_Angeles", "America/New_York")
CONTROL = ("quarantine", "schema_changes", "restatements", "mentions", "lookups", "missing_records", "changes")

tasks = st.fixed_dictionaries(
    {"id": st.sampled_from(["a", "b", "c", ""])},
    optional={
        "client_id": st.sampled_from(["x", "y"]),
        "status": st.sampled_from(["pending", "completed", "a new one"]),
        "title": st.sampled_from(["one", "two"]) | st.just(["no text"]),
        "updated_at": st.sampled_from(["2025-05-01T10:00:00Z", "2025-05-20T10:00:00Z"]),
        "mood": st.just("a new field"),
    },
)
minutes = st.sampled_from(["2025-05-01 10:00", "2025-05-01 11:30"])
lines = st.builds(
    call_line, minutes, state=st.sampled_from(["Completed", "Odd"]), booked=st.sampled_from(["Yes", "No", "?"])
)
records = st.builds(
    call_record,
    st.sampled_from(["call 1", "call 2", "call 3"]),
    st.sampled_from(["2025-05-01T14:00:10Z", "2025-05-01T17:00:10Z"]),
)


def days(csv_lines: list[str], sealed_before: date | None) -> Save:
    return ReplaceDays([csv_page(*csv_lines)], DAY, DAY, START, sealed_before)


def details(calls: list[Any]) -> Save:
    return AttachDetails(calls, DAY, DAY)


saves: dict[str, st.SearchStrategy[Save]] = {
    "staff_tasks": st.builds(
        MergeRows, st.lists(tasks, max_size=3), st.just(START), st.sampled_from([None, START - timedelta(days=20)])
    ),
    "clients": st.one_of(
        st.builds(MergeRows, st.lists(tasks, max_size=2), st.just(START)),
        st.builds(MissingRecords, st.lists(st.sampled_from("abx"), max_size=2), st.just(START)),
    ),
    "phone_calls": st.one_of(
        st.builds(days, st.lists(lines, max_size=3), st.sampled_from([None, DAY + timedelta(days=1)])),
        st.builds(details, st.lists(records, max_size=3)),
    ),
}
of_a_list = st.sampled_from(sorted(saves)).flatmap(
    lambda name: st.tuples(st.just(name), st.lists(saves[name], min_size=1, max_size=3), st.booleans())
)
stories = st.lists(st.tuples(st.integers(0, len(ZONES) - 1), of_a_list), min_size=1, max_size=8)


def practices(filled: Filled) -> list[str]:
    names: list[str] = []
    for zone in ZONES:
        filled.another_practice(zone)
        names.append(filled.practice.id)
    return names


def rows_without_keys(filled: Filled, practice_id: str) -> dict[str, list[Any]]:
    """Return all rows of a practice without the keys, which differ by practice."""
    tables = [f"{schema}.{table}" for schema in ("raw", "history") for table in saves]
    tables += [f"control.{table}" for table in CONTROL]
    return {
        table: filled.rows(
            f"select columns(lambda name: name not in ('practice_id', 'call_key', 'row_key')) from {table}"
            f" where practice_id = '{practice_id}' order by all"
        )
        for table in tables
    }


@settings(max_examples=examples(5), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=stories)
def test_practices_side_by_side_are_stored_as_each_alone(
    shared: Filled, story: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of the batches are prepared before, as large batches are."""
    monkeypatch.setattr(saving, "ROWS_WORTH_A_FRAME", 1)
    together, alone = practices(shared), practices(shared)
    works = [(number, by_name(name), work, early) for number, (name, work, early) in story]

    def ready(practice_id: str, of: Endpoint, work: list[Save], *, early: bool) -> list[Save]:
        return shared.warehouse.prepared(practice_id, of, work) if early else work

    at_once = shared.warehouse.commit_all(
        "run", [(together[to], of, ready(together[to], of, work, early=early)) for to, of, work, early in works]
    )
    one_by_one = [shared.warehouse.commit("run", alone[number], of, work) for number, of, work, _ in works]

    assert at_once == one_by_one
    for shared_one, alone_one in zip(together, alone, strict=True):
        assert rows_without_keys(shared, shared_one) == rows_without_keys(shared, alone_one)
