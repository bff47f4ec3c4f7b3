"""Practices that share a statement end with the same rows as practices that are stored alone."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.warehouse_with_rows import DAY, START, Filled, call_line, call_record, csv_page

from pipelines.core.endpoint import Endpoint
from pipelines.core.steps import AttachDetails, MergeRows, MissingRecords, ReplaceDays, Save
from pipelines.endpoints import by_name
from pipelines.loading import prepare

ZONES = ("America/New_York", "America/Los_Angeles", "America/New_York")
CONTROL = ("quarantine", "schema_changes", "restatements", "mentions", "lookups", "missing_records", "changes")

rows = st.fixed_dictionaries(
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
        MergeRows, st.lists(rows, max_size=3), st.just(START), st.sampled_from([None, START - timedelta(days=20)])
    ),
    "clients": st.one_of(
        st.builds(MergeRows, st.lists(rows, max_size=2), st.just(START)),
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
    monkeypatch.setattr(prepare, "ROWS_WORTH_A_FRAME", 1)
    together, alone = practices(shared), practices(shared)
    works = [(number, by_name(name), work, early) for number, (name, work, early) in story]

    def ready(practice_id: str, of: Endpoint, work: list[Save], *, early: bool) -> list[Save]:
        return shared.warehouse.prepared(practice_id, of, work) if early else work

    at_once = shared.warehouse.commit_all(
        "run", [(together[to], of, ready(together[to], of, work, early=early)) for to, of, work, early in works]
    )
    one_by_one = [shared.warehouse.commit("run", alone[number], of, work) for number, of, work, _ in works]

    assert at_once == one_by_one
    assert [rows_without_keys(shared, name) for name in together] == [
        rows_without_keys(shared, name) for name in alone
    ]
