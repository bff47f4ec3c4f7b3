"""The marts by group: each as if the group were one practice, over all rows of the practices that belong to it.

Nothing is added up from the marts by practice: a median of medians would be none. A day is each practice's own.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from support.cells import groups
from support.daily import funnel, intent, outreach
from support.expected.booking import REFERRAL, stages
from support.expected.calls import KINDS, calls_by_hour, hours_passed
from support.expected.tasks import turnaround
from support.known import Expected, Known
from support.random_rows import Row

Key = tuple[Any, ...]


def group_of(known: Known) -> dict[str, str]:
    """The practices that belong to a group; of the others no mart by group has a row."""
    return {practice.id: practice.group for practice in known.practices if practice.group}


def pooled(known: Known, found: Mapping[Key, list[Row]]) -> dict[Key, list[Row]]:
    """Rows by group and the rest of their key, instead of by practice."""
    group, together = group_of(known), defaultdict[Key, list[Row]](list)
    for (practice, *rest), rows in found.items():
        if practice in group:
            together[group[practice], *rest] += rows
    return together


def pooled_by_day(known: Known, rows: Iterable[Row], *columns: str) -> dict[Key, list[Row]]:
    return pooled(known, known.by_day(rows, *columns))


def booking_funnel_by_group(known: Known) -> Expected:
    found = pooled_by_day(known, known.rows("booking_sessions"), *REFERRAL)
    return {key: funnel(sessions) for key, sessions in found.items()}


def booking_funnel_stages_by_group(known: Known) -> Expected:
    return stages(known, pooled_by_day(known, known.rows("booking_sessions")))


def booking_intent_by_group(known: Known) -> Expected:
    found = pooled(known, groups(known.rows("phone_calls"), lambda row: row["call_date"], *KINDS))
    return {key: intent(calls) for key, calls in found.items()}


def booking_intent_hourly_by_group(known: Known) -> Expected:
    """The hours of a group are those of its practices, added up: each has a clock of its own on the wall."""
    group, passed = group_of(known), Counter[Key]()
    for (practice, *hour), times in hours_passed(known).items():
        if practice in group:
            passed[group[practice], *hour] += times
    calls = pooled(known, calls_by_hour(known))
    return {key: (*intent(calls.get(key, [])), passed[key]) for key in calls.keys() | passed.keys()}


def outreach_outcomes_by_group(known: Known) -> Expected:
    found = pooled_by_day(known, known.rows("ai_outbound_requests"), "purpose", "channel")
    return {key: outreach(requests, known.now) for key, requests in found.items()}


def outreach_suppressions_by_group(known: Known) -> Expected:
    stopped = [row for row in known.rows("ai_outbound_requests") if row["status"] == "suppressed"]
    found = pooled_by_day(known, stopped, "purpose", "suppression_reason")
    return {key: (len(requests),) for key, requests in found.items()}


def staff_task_turnaround_by_group(known: Known) -> Expected:
    return turnaround(known, pooled_by_day(known, known.rows("staff_tasks"), "task_type"))
