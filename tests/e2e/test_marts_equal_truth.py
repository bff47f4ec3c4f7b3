"""From the platform's own truth to the last cell of every mart: at rest, and thirty days later.

Three stories, three seeds; past vetl's models on both sides (`support.seen`, `support.expected`). Practices lie in
zones with and without summer time, one of them half an hour off, and the days cross both changes of the clock.
"""

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from statistics import mean
from typing import Any

import pytest
from support.cells import count
from support.expected import EXPECTED, assert_mart_is_true
from support.expected.booking import stage_order
from support.expected.groups import group_of
from support.expected.practice import practice_days
from support.expected.restatements import booking_funnel_restatements, booking_intent_restatements
from support.expected.tasks import reopened
from support.known import Known
from support.once import once, shared_folder
from support.plot import STORIES, tell
from support.random_rows import Row
from support.seen import TABLES, known_from
from support.story import LISTS, Chapter
from support.zones import midnight, on_the_wall

Told = Callable[[str, str], tuple[Chapter, Known]]

AT_REST, LATER = MOMENTS = ("at rest", "after thirty days")
SETTLED = timedelta(seconds=60)
"""What was changed less than a minute ago is read, but certified only later."""


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Told:
    """A story's chapter, and what is known of the platform then."""
    shared = shared_folder(tmp_path_factory, request.config)
    works = {plot.name: partial(tell, plot) for plot in STORIES.values()}
    known: dict[tuple[str, str], tuple[Chapter, Known]] = {}

    def chapter(story: str, moment: str) -> tuple[Chapter, Known]:
        if (story, moment) not in known:
            chapters = once(shared, STORIES[story].name, works)
            known.update(
                {(story, name): (one, known_from(one)) for name, one in zip(MOMENTS, chapters, strict=True)}
            )
        return known[story, moment]

    return chapter


@pytest.mark.parametrize("mart", EXPECTED)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("story", STORIES)
def test_a_mart_equals_the_truth(story: str, moment: str, mart: str, told: Told) -> None:
    chapter, known = told(story, moment)

    assert_mart_is_true(mart, chapter.marts[mart], known)


@pytest.mark.parametrize("story", STORIES)
def test_the_later_build_took_in_what_had_changed(story: str, told: Told) -> None:
    assert told(story, AT_REST)[0].in_full
    assert not told(story, LATER)[0].in_full


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("story", STORIES)
def test_the_published_marts_are_the_private_ones(story: str, moment: str, told: Told) -> None:
    chapter, _ = told(story, moment)

    assert chapter.unpublished == []


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("story", STORIES)
def test_the_proof_counts_what_the_platform_has(story: str, moment: str, told: Told) -> None:
    """Also of a list that is withdrawn, whose rows are kept, and of a practice that cannot be read."""
    chapter, known = told(story, moment)
    proof = {(row["practice_id"], row["endpoint"]): row for row in chapter.rows("proof")}
    assert proof.keys() == {(practice.id, name) for practice in known.practices for name in LISTS}

    for (practice, name), row in proof.items():
        table = [each for each in known.tables[TABLES[name]] if each["practice_id"] == practice]
        rows = [each for each in table if not each["_deleted_at"]]
        is_withdrawn = STORIES[story].withdrawn and moment == LATER and name == "appointments"
        assert row["warehouse_count"] == len(rows)
        is_reconciled = moment == LATER and practice != "quiet" and not is_withdrawn
        assert row["last_reconcile_at"] == (known.now if is_reconciled else None)
        if name in {"clients", "patients"} or practice == "quiet":
            assert row["source_count"] is row["certified_through"] is row["evidence"] is None
        elif is_withdrawn:
            assert row["certified_through"] == chapter.visits[-2].at - SETTLED
            assert row["source_counted_at"] == chapter.visits[0].at
        else:
            assert row["source_count"] == count(rows, partial(is_settled, name, known))
            assert row["certified_through"] == certain_until(known, practice, name)
        if name in {"ai_outbound", "staff_tasks", "appointments"}:
            assert row["restated_rows"] == len(table) - len(rows)


def is_settled(name: str, known: Known, row: Row) -> bool:
    updated_at = row["updated_at"] if name in {"booking_sessions", "appointments"} else None
    return updated_at is None or updated_at <= known.now - SETTLED


def certain_until(known: Known, practice: str, name: str) -> datetime:
    """Whole days of calls; instants of what is asked for by time; lists that are read whole until now."""
    zone = known.zone_of(practice)
    today = on_the_wall(known.now, zone)
    assert zone
    assert today
    if name == "phone_calls":
        return midnight(today.date(), zone)
    return known.now - SETTLED if name in {"booking_sessions", "appointments"} else known.now


def test_what_is_hard_occurs(told: Told) -> None:
    """The comparisons above are worth something only where there is something to compare."""
    for story, plot in STORIES.items():
        _, early = told(story, AT_REST)
        chapter, known = told(story, LATER)
        assert stage_order(early) == []
        assert len(stage_order(known)) == (0 if plot.loose_end else 6)
        assert reopened(known)
        assert {("session", "exact"), ("call", "inferred"), (None, None)} <= ways(chapter)


def test_exact_outreach_messages_and_long_and_short_days_occur(told: Told) -> None:
    """In one of the stories at least; restated days also."""
    last = [told(story, LATER) for story in STORIES]
    hours = {tuple(row)[3] for _, known in last for row in practice_days(known).values()}
    statuses = {row["status"] for _, known in last for row in known.rows("messages")}

    assert {23.0, 24.0, 25.0} == hours
    for restatements in (booking_intent_restatements, booking_funnel_restatements):
        moved = {tuple(row)[-1] for _, known in last for row in restatements(known).values()}
        assert {True, False, None} == moved
    assert any(("outreach", "exact") in ways(chapter) for chapter, _ in last)
    assert {"delivered", "read", "failed", "suppressed"} <= statuses


def test_groups_are_more_than_sums(told: Told) -> None:
    """A median that is no mean of medians, a practice with rows but no group, a group without a row."""
    for mart, width, column in (
        ("staff_task_turnaround", 3, "median_hours_to_finalize"),
        ("outreach_outcomes", 4, "median_hours_to_contact"),
        ("booking_funnel", 6, "median_minutes_to_complete"),
    ):
        assert any(is_no_mean(told(story, LATER), mart, width, column) for story in STORIES)
    named = {
        row["group_name"] for story in STORIES for row in told(story, LATER)[0].rows("booking_intent_by_group")
    }
    practices = [row for story in STORIES for row in told(story, LATER)[0].rows("practices")]
    assert {"Atlantic", "Ports", "West"} == named
    assert {None, "Andes"} == {row["group_name"] for row in practices} - named


def is_no_mean(seen: tuple[Chapter, Known], mart: str, width: int, column: str) -> bool:
    chapter, known = seen
    group = group_of(known)
    parts: dict[Any, list[float]] = defaultdict(list)
    for practice, *rest, value in columns(chapter, f"{mart}_daily", width, column):
        if practice in group and value is not None:
            parts[group[practice], *rest].append(value)
    return any(
        value is not None and abs(value - mean(parts[tuple(key)])) > 0.01
        for *key, value in columns(chapter, f"{mart}_by_group", width, column)
    )


def columns(chapter: Chapter, mart: str, width: int, column: str) -> list[tuple[Any, ...]]:
    """A mart's grain and one column."""
    at = chapter.marts[mart].columns.index(column)
    return [(*row[:width], row[at]) for row in chapter.marts[mart].rows]


def ways(chapter: Chapter) -> set[tuple[str | None, str | None]]:
    return {(row["booked_via"], row["attribution"]) for row in chapter.rows("appointments")}
