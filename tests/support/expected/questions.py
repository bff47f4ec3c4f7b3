"""The answers to the questions of warehouse/README.md, computed from expected marts in plain Python.

Each function answers with all rows, in any order. The rows of `proof` are the chapter's own: a separate test
compares them with the platform.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from statistics import median
from typing import Any

from support.cells import count
from support.expected.answers import Answer, Marts, grouped, picked, rounded, share, total
from support.expected.overview import monday
from support.expected.reactions import (
    acting_difference,
    acting_tasks,
    after_hours,
    called_back_on_request,
    emergencies,
    first_responses,
    missed_visits,
)
from support.random_rows import Row


def missed_by_hour(marts: Marts) -> Answer:
    hours = [row for row in marts("booking_intent_hourly") if row["hours"]]
    missed = [{**row, "rate": row["missed_bookable_inbound_calls"] / row["hours"]} for row in hours]
    counts = ("missed_bookable_inbound_calls", "unanswered_inbound_calls", "rate:2")
    return picked(missed, "practice_id", "weekday", "hour", *counts)


def campaigns(marts: Marts) -> Answer:
    kept = {row["session_id"] for row in marts("appointments") if row["is_kept"]}
    sessions = [row for row in marts("booking_sessions") if row["client_type"] == "new"]
    return [
        (
            campaign,
            len(rows),
            count(rows, lambda row: row["status"] == "completed"),
            count(rows, lambda row: row["session_id"] in kept),
        )
        for (campaign,), rows in grouped(sessions, "referral_campaign").items()
    ]


def leaks_by_week(marts: Marts) -> Answer:
    weeks = [row for row in marts("practice_weekly") if row["week"]]
    return picked(weeks, "practice_id", "week", "leaks", "previous_leaks", "is_final")


def refills(marts: Marts) -> Answer:
    read = [row for row in marts("practices") if row["today"]]
    old = {row["practice_id"]: row["today"] - timedelta(days=14) for row in read}
    days = [
        row
        for row in marts("outreach_outcomes_daily")
        if row["purpose"] == "refill" and row["day"] and row["day"] < old[row["practice_id"]]
    ]
    columns = ("requests", "contacted", "no_response", "opted_out")
    return [(*key, *(total(rows, one) for one in columns)) for key, rows in grouped(days, "channel").items()]


def called_back(marts: Marts) -> Answer:
    tasks = grouped(
        (row for row in marts("staff_tasks") if row["status"] == "completed"), "practice_id", "client_id"
    )
    taken: dict[str, list[float]] = defaultdict(list)
    for call in marts("demand_contacts"):
        if call["channel"] != "call" or call["begun_by"] != "client" or call["is_booked"] or not call["client_id"]:
            continue
        began = call["began_at"]
        ends = [
            row["finalized_at"]
            for row in tasks.get((call["practice_id"], call["client_id"]), ())
            if row["finalized_at"] and began <= row["finalized_at"] <= began + timedelta(days=14)
        ]
        if ends:
            taken[call["practice_id"]].append((minute(min(ends)) - minute(began)) / timedelta(hours=1))
    return [(practice, len(hours), rounded(median(hours), 1)) for practice, hours in taken.items()]


def minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


def callers(marts: Marts) -> Answer:
    weeks = [row for row in marts("practice_weekly") if row["is_final"] and row["new_booking_callers"]]
    columns = ("new_booking_callers", "booked_within_7_days", "recovered_within_7_days")
    return picked(weeks, "practice_id", "week", *columns)


def months(marts: Marts) -> Answer:
    today = {row["practice_id"]: row["today"] for row in marts("practices")}
    by_month: dict[tuple[str, date], list[Row]] = defaultdict(list)
    for row in marts("practice_daily"):
        day, now = row["day"], today.get(row["practice_id"])
        if day and now and day < now and day.day <= (now - timedelta(days=1)).day:
            by_month[row["practice_id"], day.replace(day=1)].append(row)
    columns = ("calls", "new_booking_intent_calls", "sessions", "leaks")
    return [
        (*key, len(days), *(total(days, one) for one in columns), all(one["is_final"] for one in days))
        for key, days in by_month.items()
    ]


def stages(marts: Marts) -> Answer:
    by_stage = grouped(marts("booking_funnel_stages"), "stage", "position")
    answer: Answer = []
    for key, rows in by_stage.items():
        reached, continued = total(rows, "reached"), total(rows, "continued")
        lost = None if reached is None or continued is None else reached - continued
        answer.append((*key, reached, lost, None if lost is None else share(lost, reached)))
    return answer


def to_call(marts: Marts) -> Answer:
    leaks = [{**row, "is_known": row["client_id"] is not None} for row in marts("leak_list")]
    return picked(leaks, "practice_id", "urgency", "is_known", "wanted", "contacts", "reason", "age_hours:1")


def appointments_by_week(marts: Marts) -> Answer:
    days = [{**row, "week": monday(row["day"]) if row["day"] else None} for row in marts("appointments_daily")]
    return [
        (
            *key,
            total(rows, "appointments"),
            total(rows, "kept"),
            sum(row["canceled"] + row["no_show"] for row in rows),
        )
        for key, rows in grouped(days, "week", "booked_via").items()
    ]


def suppressed(marts: Marts) -> Answer:
    requests = marts("outreach_requests")
    reasons = Counter(
        (row["suppression_reason"] or "(not told)") if row["status"] == "suppressed" else "(not suppressed)"
        for row in requests
    )
    return [(reason, times, share(times, len(requests))) for reason, times in reasons.items()]


def opt_outs(marts: Marts) -> Answer:
    days = [row for row in marts("outreach_outcomes_daily") if row["is_mature"]]
    answer: Answer = []
    for (channel,), rows in grouped(days, "channel").items():
        contacted, out = total(rows, "contacted"), total(rows, "opted_out")
        answer.append((channel, contacted, out, share(out, contacted)))
    return answer


def deliveries(marts: Marts) -> Answer:
    messages = [{**row, "by": row["channel_used"] or row["channel_requested"]} for row in marts("messages")]
    answer: Answer = []
    for (channel,), rows in grouped(messages, "by").items():
        sent, delivered, read = (
            count(rows, lambda row, at=at: row[at]) for at in ("is_sent", "is_delivered", "is_read")
        )
        answer.append((channel, sent, delivered, read, share(delivered, sent)))
    return answer


def reminders(marts: Marts) -> Answer:
    read = [row for row in marts("practices") if row["as_of"]]
    since = {row["practice_id"]: row["as_of"] - timedelta(days=30) for row in read}
    of_practices = [row for row in marts("service_reminders") if row["practice_id"] in since]
    return [
        (
            rule,
            len(rows),
            count(rows, lambda row: (row["hours_to_appointment"] or math.inf) <= 30 * 24),
            count(rows, lambda row: row["first_told_at"] < since[row["practice_id"]]),
        )
        for (rule,), rows in grouped(of_practices, "notification_rule").items()
    ]


def final_through(marts: Marts) -> Answer:
    proof, answer = grouped(marts("proof"), "practice_id"), list[tuple[Any, ...]]()
    for (practice,), rows in grouped(marts("practice_daily"), "practice_id").items():
        final = {row["day"] for row in rows if row["is_final"]} - {None}
        moving = {row["day"] for row in rows if not row["is_final"]} - {None}
        certain = [row["certified_through"] for row in proof[practice,] if row["certified_through"]]
        answer.append((practice, max(final, default=None), len(moving), min(certain, default=None)))
    return answer


def completeness(marts: Marts) -> Answer:
    columns = ("source_count", "warehouse_count", "quarantined_rows")
    by_list = grouped(marts("proof"), "endpoint").items()
    return [(*key, *(total(rows, one) for one in columns)) for key, rows in by_list]


def unlisted(marts: Marts) -> Answer:
    by_field = grouped(marts("unknown_values"), "mart", "field").items()
    return [
        (*key, len({row["unknown_value"] for row in rows}), total(rows, "occurrences")) for key, rows in by_field
    ]


def repeated(marts: Marts) -> Answer:
    calls = [
        {**row, "month": row["day"].replace(day=1)}
        for row in marts("phone_calls")
        if row["direction"] == "inbound" and row["caller_key"]
    ]
    answer: Answer = []
    for (practice, month), rows in grouped(calls, "practice_id", "month").items():
        times = Counter(row["caller_key"] for row in rows)
        again = sum(number > 1 for number in times.values())
        answer.append((practice, month, len(times), again, share(again, len(times))))
    return answer


ANSWERS: Mapping[str, Callable[[Marts], Answer]] = {
    "missed-hours": missed_by_hour,
    "campaigns": campaigns,
    "leaks-by-week": leaks_by_week,
    "refill-outreach": refills,
    "call-back-time": called_back,
    "callers-booked": callers,
    "month-on-month": months,
    "online-drop-off": stages,
    "call-list": to_call,
    "ways-of-booking": appointments_by_week,
    "suppressions": suppressed,
    "opt-outs": opt_outs,
    "message-delivery": deliveries,
    "reminders": reminders,
    "final-days": final_through,
    "completeness": completeness,
    "unlisted-values": unlisted,
    "repeat-callers": repeated,
    "call-back-response": called_back_on_request,
    "no-shows": missed_visits,
    "after-hours": after_hours,
    "emergencies": emergencies,
    "first-response": first_responses,
    "acting-difference": acting_difference,
    "acting-tasks": acting_tasks,
}
"""The functions by the names of the questions."""
