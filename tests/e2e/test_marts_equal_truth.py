"""Every cell of every mart, compared with the platform's own truth after thirty days and an incremental build.

Neither side uses vetl's models (`support.expected_inputs`, `support.expected`). Practices are in zones with and
without summer time, one of them half an hour off, and the days include both changes of the clock.
`VETL_TRUTH_SEED` is another seed; `make chaos` compares two more.
"""

from datetime import datetime, timedelta
from functools import partial

import pytest
from support.cells import count
from support.expected import EXPECTED, assert_mart_is_true
from support.expected_inputs import known_from
from support.lists import RANGED, TABLES
from support.mart_inputs import Known
from support.month_of_events import month_once
from support.random_rows import Row
from support.story import Chapter
from support.zones import midnight, on_the_wall

Story = tuple[Chapter, Known]

SETTLED = timedelta(seconds=60)
"""Rows that changed less than a minute ago are read, but certified only later."""


@pytest.fixture(scope="module")
def story() -> Story:
    """Provide the last chapter of the story, with the inputs of its marts."""
    chapter, _ = month_once()
    return chapter, known_from(chapter)


@pytest.mark.parametrize("mart", EXPECTED)
def test_a_mart_equals_the_truth(mart: str, story: Story) -> None:
    chapter, source = story

    assert_mart_is_true(mart, chapter.marts[mart], source)


def test_the_later_build_was_incremental(story: Story) -> None:
    assert not story[0].in_full


def test_the_published_marts_are_the_private_ones(story: Story) -> None:
    chapter, _ = story

    assert chapter.unpublished == []


def test_the_proof_counts_the_rows_of_the_platform(story: Story) -> None:
    """This includes a withdrawn list, whose rows are kept, and a practice that cannot be read."""
    chapter, source = story
    proof = {(row["practice_id"], row["endpoint"]): row for row in chapter.rows("proof")}
    assert proof.keys() == {(practice.id, name) for practice in source.practices for name in TABLES}
    before = chapter.visits[-2:][0]  # the last read of a list that was withdrawn later

    for (practice, name), row in proof.items():
        table = [each for each in source.tables[TABLES[name]] if each["practice_id"] == practice]
        rows = [each for each in table if not each["_deleted_at"]]
        assert row["warehouse_count"] == len(rows)
        assert row["comparison"] == compared(row)
        is_withdrawn = name == "appointments"
        is_reconciled = practice != "quiet"
        reconciled_at = before.at if is_withdrawn else source.now
        assert row["last_reconcile_at"] == (reconciled_at if is_reconciled else None)
        if name in {"clients", "patients"} or practice == "quiet":
            assert row["source_count"] is row["certified_through"] is row["evidence"] is None
        elif is_withdrawn:
            assert row["certified_through"] == before.at - SETTLED
            assert row["source_counted_at"] == before.at
        else:
            assert row["source_count"] == count(rows, partial(is_settled, name, source))
            assert row["certified_through"] == certain_until(source, practice, name)
        if name in {"ai_outbound", "staff_tasks", "appointments"}:
            assert row["restated_rows"] == len(table) - len(rows)


def compared(row: Row) -> str:
    """Return the comparison in words. On this platform no row is in quarantine and none is missing."""
    kept, counted = row["warehouse_count"], row["source_count"]
    if counted is None:
        return "read by id; the platform has no total to compare with" if kept else "not counted yet"
    return "equal" if kept == counted else f"{kept - counted} more arrived after the count"


def is_settled(name: str, source: Known, row: Row) -> bool:
    updated_at = row["updated_at"] if name in RANGED else None
    return updated_at is None or updated_at <= source.now - SETTLED


def certain_until(source: Known, practice: str, name: str) -> datetime:
    """Calls are certified by whole days; lists with a time filter by instants; whole lists until now."""
    zone = source.zone_of(practice)
    today = on_the_wall(source.now, zone)
    assert zone
    assert today
    if name == "phone_calls":
        return midnight(today.date(), zone)
    return source.now - SETTLED if name in RANGED else source.now


def test_nobody_who_was_acted_on_is_on_the_next_days_list(story: Story) -> None:
    """Of those who were acted on some booked and some did not."""
    chapter, _ = story
    acted, left = (
        {(row["practice_id"], row["episode_id"]) for row in chapter.acts if (row["state"] == "holdout") is is_left}
        for is_left in (False, True)
    )

    assert acted
    assert acted & chapter.list_next_day == set()
    assert left & chapter.list_next_day
    shown = chapter.rows("acts")
    ends = {(row["holdout"], row["booked_within_14_days"]) for row in shown}
    assert {(True, False), (False, True), (False, False)} <= ends
    assert {None, "pending", "completed", "canceled"} == {row["task_status"] for row in shown}
