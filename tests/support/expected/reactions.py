"""The answers to the questions about what the practice and vetl did: call-backs, visits, emergencies, acts."""

from datetime import timedelta
from statistics import median

from support.cells import count
from support.expected.answers import Answer, Marts, grouped, rounded, share, total

from pipelines.core.noise import difference_interval


def called_back_on_request(marts: Marts) -> Answer:
    calls = marts("phone_calls")
    outbound = grouped([row for row in calls if row["direction"] == "outbound"], "practice_id", "caller_key")
    asked = [row for row in calls if row["direction"] == "inbound" and row["outcome"] == "callback_requested"]
    waits: list[float] = []
    for row in asked:
        back = outbound.get((row["practice_id"], row["caller_key"]), []) if row["caller_key"] else []
        after = [one["called_at"] - row["called_at"] for one in back]
        due = [wait for wait in after if timedelta() < wait <= timedelta(days=14)]
        waits += [min(due) // timedelta(minutes=1) / 60] if due else []
    return [(len(asked), len(waits), rounded(median(waits) if waits else None, 1))]


def missed_visits(marts: Marts) -> Answer:
    past = [row for row in marts("visits_daily") if row["is_past"]]
    answer: Answer = []
    for key, rows in grouped(past, "client_type", "lead_time").items():
        kept, missed = total(rows, "kept") or 0, total(rows, "no_show") or 0
        answer.append((*key, kept, missed, share(missed, kept + missed)))
    return answer


def after_hours(marts: Marts) -> Answer:
    answer: Answer = []
    for key, rows in grouped(marts("call_endings_daily"), "practice_id", "is_open").items():
        ended = [total(rows, name) or 0 for name in ("resolved", "handed_over", "lost")]
        answer.append((*key, total(rows, "calls"), *ended, share(ended[0], sum(ended))))
    return answer


def emergencies(marts: Marts) -> Answer:
    calls = [row for row in marts("call_endings_daily") if row["call_classification"] == "emergency"]
    return [
        (
            practice,
            total(rows, "calls"),
            total(rows, "lost"),
            sum(row["lost"] for row in rows if not row["is_open"]),
        )
        for (practice,), rows in grouped(calls, "practice_id").items()
    ]


def first_responses(marts: Marts) -> Answer:
    counts = ("contacts", "responded_within_5_minutes", "responded_within_1_hour", "responded_within_1_day")
    return [
        (practice, *(total(rows, name) for name in (*counts, "responded")))
        for (practice,), rows in grouped(marts("first_responses_daily"), "practice_id").items()
    ]


def acting_difference(marts: Marts) -> Answer:
    answer: Answer = []
    for (practice,), rows in grouped(
        [row for row in marts("acts_daily") if row["is_mature"]], "practice_id"
    ).items():
        acts, booked, left, left_booked = (
            total(rows, name) or 0 for name in ("acts", "acts_booked", "held_out", "held_out_booked")
        )
        interval = difference_interval(booked, acts, left_booked, left)
        compared = (booked / acts - left_booked / left, *interval) if acts and left else (None, None, None)
        answer.append((practice, acts, booked, left, left_booked, *(rounded(value, 3) for value in compared)))
    return answer


def acting_tasks(marts: Marts) -> Answer:
    acted = [row for row in marts("acts") if not row["holdout"]]
    by_end = grouped(acted, "practice_id", "kind", "state", "task_status").items()
    return [(*key, len(rows), count(rows, lambda row: row["booked_within_14_days"])) for key, rows in by_end]
