"""What is rolled up by groups of practices: each group as if it were one practice, worked out in plain Python."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from support.cells import Cells, Query, assert_equal, cells, count, groups, local_day, median_of, rate
from support.daily import funnel, intent, outreach
from support.random_rows import GROUPS, SOURCE_CLOCK, Row, Tables

Key = tuple[Any, ...]


def pooled(found: Mapping[Key, list[Any]]) -> dict[Key, list[Any]]:
    """The rows by group instead of by practice; those of a practice without a group are left out."""
    together: dict[Key, list[Any]] = defaultdict(list)
    for (practice, *rest), rows in found.items():
        if practice in GROUPS:
            together[GROUPS[practice], *rest] += rows
    return together


def added(rows: Iterable[tuple[Any, ...]], key_width: int) -> dict[Key, list[Any]]:
    """The sums of the columns beside the key, by group; nothing and nothing is nothing."""
    pools = pooled({row[:key_width]: [row[key_width:]] for row in rows})
    return {
        key: [
            sum(known) if (known := [value for value in column if value is not None]) else None
            for column in columns
        ]
        for key, columns in ((key, zip(*pool, strict=True)) for key, pool in pools.items())
    }


def test_booking_funnel_by_group(rows: Tables, query: Query) -> None:
    columns = ("referral_source", "referral_campaign", "referral_medium", "client_type")
    found = pooled(groups(rows["booking_sessions"], local_day, *columns))

    assert_equal(
        {key: funnel(sessions) for key, sessions in found.items()},
        cells(query("select * from marts.booking_funnel_by_group"), key_width=6),
    )


def test_a_median_of_a_group_is_no_mean_of_medians(query: Query) -> None:
    """The comparisons above and below are worth something only where the two differ."""
    (differing,) = query(
        "with means as (select group_name, day, avg(median_hours_to_finalize) as mean"
        " from marts.staff_task_turnaround_daily join marts.practices using (practice_id) group by all)"
        " select count(*) from means join marts.staff_task_turnaround_by_group as groups using (group_name, day)"
        " where abs(mean - median_hours_to_finalize) > 0.01"
    )

    assert differing > (10,)


def test_booking_intent_by_group(rows: Tables, query: Query) -> None:
    columns = ("direction", "caller_type", "call_classification")
    found = pooled(groups(rows["phone_calls"], lambda row: row["call_date"], *columns))

    assert_equal(
        {key: intent(calls) for key, calls in found.items()},
        cells(query("select * from marts.booking_intent_by_group"), key_width=5),
    )


def test_outreach_outcomes_by_group(rows: Tables, query: Query) -> None:
    found = pooled(groups(rows["ai_outbound_requests"], local_day, "purpose", "channel"))

    assert_equal(
        {key: outreach(requests, SOURCE_CLOCK) for key, requests in found.items()},
        cells(query("select * from marts.outreach_outcomes_by_group"), key_width=4),
    )


def test_outreach_suppressions_by_group(rows: Tables, query: Query) -> None:
    stopped = [row for row in rows["ai_outbound_requests"] if row["status"] == "suppressed"]
    found = pooled(groups(stopped, local_day, "purpose", "suppression_reason"))

    assert_equal(
        {key: (len(requests),) for key, requests in found.items()},
        cells(query("select * from marts.outreach_suppressions_by_group"), key_width=4),
    )


def test_staff_task_turnaround_by_group(query: Query) -> None:
    """From the rows of `staff_tasks`, whose hours another test compares; who was reopened adds up."""
    tasks: dict[Key, list[Row]] = defaultdict(list)
    names = ("status", "hours_to_finalize", "open_hours_to_finalize")
    for practice, day, kind, *values in query(
        f"select practice_id, day, task_type, {', '.join(names)} from marts.staff_tasks"
    ):
        tasks[practice, day, kind].append(dict(zip(names, values, strict=True)))
    reopened = added(
        query("select practice_id, day, task_type, reopened from marts.staff_task_turnaround_daily"), 3
    )
    expected: Cells = {
        key: (
            len(found),
            count(found, lambda row: row["status"] == "completed"),
            count(found, lambda row: row["status"] == "canceled"),
            count(found, lambda row: row["status"] == "pending"),
            median_of(row["hours_to_finalize"] for row in found),
            median_of(row["open_hours_to_finalize"] for row in found),
            *reopened[key],
        )
        for key, found in pooled(tasks).items()
    }

    assert sum(cell[-1] for cell in expected.values())
    assert_equal(expected, cells(query("select * from marts.staff_task_turnaround_by_group"), key_width=3))


def test_booking_intent_hourly_by_group(query: Query) -> None:
    counts = "calls, intent_calls, booked_calls, intent_booked_calls, missed_intent_calls, hours"
    sums = added(query(f"select practice_id, weekday, hour, {counts} from marts.booking_intent_hourly"), 3)
    expected: Cells = {
        key: (calls, wanted, booked, both, rate(wanted, calls), rate(both, wanted), missed, hours)
        for key, (calls, wanted, booked, both, missed, hours) in sums.items()
    }

    assert_equal(expected, cells(query("select * from marts.booking_intent_hourly_by_group"), key_width=3))


def test_booking_funnel_stages_by_group(query: Query) -> None:
    counts = "sessions, reached, continued"
    found = query(f"select practice_id, day, stage, position, {counts} from marts.booking_funnel_stages")
    expected: Cells = {
        key: (sessions, reached, continued, None if reached is None else rate(reached - continued, reached))
        for key, (sessions, reached, continued) in added(found, 4).items()
    }

    assert_equal(expected, cells(query("select * from marts.booking_funnel_stages_by_group"), key_width=4))


def test_a_group_without_a_row_and_a_practice_without_a_group_are_in_no_rollup(query: Query) -> None:
    marts = [
        name for (name,) in query("select table_name from duckdb_tables() where table_name like '%_by_group'")
    ]

    assert len(marts) == 7
    for mart in marts:
        assert query(f"select distinct group_name from marts.{mart}") == [("coast",)]
