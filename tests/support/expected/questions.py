"""The answers to the worked questions of warehouse/README.md, computed from expected marts in plain Python.

Each function answers with all rows, in any order. The rows of `proof` are the chapter's own: a separate test
compares them with the platform.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from statistics import median
from typing import Any

from support.cells import count, rate
from support.expected import EXPECTED, named
from support.expected.overview import monday
from support.mart_inputs import Known
from support.random_rows import Row
from support.story import Chapter
from vetl.core.noise import difference_interval

Answer = list[tuple[Any, ...]]
Marts = Callable[[str], list[Row]]
Figure = str | Callable[[list[Row]], Any]
"""A column to add up, or a function of the rows."""
TWO_WEEKS = timedelta(days=14)


def expected_marts(chapter: Chapter, source: Known) -> Marts:
    """Return the expected rows of a mart, by its name."""

    def rows(name: str) -> list[Row]:
        if name not in EXPECTED:
            return chapter.rows(name)
        width, function = EXPECTED[name]
        columns = chapter.marts[name].columns
        keys, others = columns[:width], columns[width:]
        return [
            {**dict(zip(keys, key, strict=True)), **named(row, others)} for key, row in function(source).items()
        ]

    return rows


def rounded(value: float | None, digits: int) -> float | None:
    """Round as the database does: halves away from zero."""
    return None if value is None else math.floor(value * 10**digits + 0.5) / 10**digits


def grouped(rows: Iterable[Row], *columns: str) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[column] for column in columns)].append(row)
    return groups


def total(rows: Iterable[Row], *columns: str) -> int | None:
    """Return the sum of the known values; None if there is none."""
    values = [row[column] for row in rows for column in columns if row[column] is not None]
    return sum(values) if values else None


def share(part: int | None, whole: int | None) -> float | None:
    """Return a rate with three digits; None of nothing."""
    return rounded(rate(part or 0, whole or 0), 3)


def share_of(part: str, *wholes: str) -> Figure:
    return lambda rows: share(total(rows, part), total(rows, *wholes))


def number_of(column: str) -> Figure:
    """Return the figure that counts the rows in which a column holds."""
    return lambda rows: count(rows, lambda row: row[column])


def summed(rows: Iterable[Row], keys: str, *figures: Figure) -> Answer:
    """Return a row for each combination of the keys, with its figures."""
    return [
        (*key, *(total(of, one) if isinstance(one, str) else one(of) for one in figures))
        for key, of in grouped(rows, *keys.split()).items()
    ]


def picked(rows: Iterable[Row], columns: str) -> Answer:
    """Return columns of rows; `value:2` is a column with two digits."""
    return [tuple(_picked(row, *column.split(":")) for column in columns.split()) for row in rows]


def _picked(row: Row, column: str, digits: str = "") -> Any:
    return rounded(row[column], int(digits)) if digits else row[column]


def those(rows: Iterable[Row], **values: Any) -> list[Row]:
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def dated(rows: Iterable[Row], column: str) -> list[Row]:
    return [row for row in rows if row[column] is not None]


def in_two_weeks(since: datetime | None, at: datetime | None) -> bool:
    return since is not None and at is not None and since <= at <= since + TWO_WEEKS


def missed_by_hour(marts: Marts) -> Answer:
    hours = [row for row in marts("booking_intent_hourly") if row["hours"]]
    missed = [{**row, "rate": row["missed_bookable_inbound_calls"] / row["hours"]} for row in hours]
    counts = "missed_bookable_inbound_calls unanswered_inbound_calls rate:2"
    return picked(missed, f"practice_id weekday hour {counts}")


def campaigns(marts: Marts) -> Answer:
    kept = {row["session_id"] for row in marts("appointments") if row["is_kept"]}
    sessions = [
        {**row, "is_completed": row["status"] == "completed", "is_kept": row["session_id"] in kept}
        for row in those(marts("booking_sessions"), client_type="new")
    ]
    return summed(sessions, "referral_campaign", len, "is_completed", "is_kept")


def refills(marts: Marts) -> Answer:
    old = {row["practice_id"]: row["today"] - TWO_WEEKS for row in dated(marts("practices"), "today")}
    days = dated(those(marts("outreach_outcomes_daily"), purpose="refill"), "day")
    past = [row for row in days if row["day"] < old[row["practice_id"]]]
    return summed(past, "channel", "requests", "contacted", "no_response", "opted_out")


def called_back(marts: Marts) -> Answer:
    tasks = grouped(those(marts("staff_tasks"), status="completed"), "practice_id", "client_id")
    taken: dict[str, list[float]] = defaultdict(list)
    for call in those(marts("demand_contacts"), channel="call", begun_by="client", is_booked=False):
        began = call["began_at"]
        own = tasks.get((call["practice_id"], call["client_id"]), ()) if call["client_id"] else ()
        ends = [row["finalized_at"] for row in own if in_two_weeks(began, row["finalized_at"])]
        if ends:
            taken[call["practice_id"]].append((minute(min(ends)) - minute(began)) / timedelta(hours=1))
    return [(practice, len(hours), rounded(median(hours), 1)) for practice, hours in taken.items()]


def minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)


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
    answer: Answer = []
    for key, rows in grouped(marts("booking_funnel_stages"), "stage", "position").items():
        reached, continued = total(rows, "reached"), total(rows, "continued")
        lost = None if reached is None or continued is None else reached - continued
        answer.append((*key, reached, lost, None if lost is None else share(lost, reached)))
    return answer


def suppressed(marts: Marts) -> Answer:
    requests = marts("outreach_requests")
    reasons = Counter(
        (row["suppression_reason"] or "(not told)") if row["status"] == "suppressed" else "(not suppressed)"
        for row in requests
    )
    return [(reason, times, share(times, len(requests))) for reason, times in reasons.items()]


def reminders(marts: Marts) -> Answer:
    since = {row["practice_id"]: row["as_of"] - timedelta(days=30) for row in dated(marts("practices"), "as_of")}
    of_practices = [row for row in marts("service_reminders") if row["practice_id"] in since]
    return summed(
        of_practices,
        "notification_rule",
        len,
        lambda rows: count(rows, lambda row: (row["hours_to_appointment"] or math.inf) <= 30 * 24),
        lambda rows: count(rows, lambda row: row["first_told_at"] < since[row["practice_id"]]),
    )


def final_through(marts: Marts) -> Answer:
    proof, answer = grouped(marts("proof"), "practice_id"), list[tuple[Any, ...]]()
    for (practice,), rows in grouped(dated(marts("practice_daily"), "day"), "practice_id").items():
        final, moving = ({row["day"] for row in those(rows, is_final=one)} for one in (True, False))
        certain = [row["certified_through"] for row in dated(proof[practice,], "certified_through")]
        answer.append((practice, max(final, default=None), len(moving), min(certain, default=None)))
    return answer


def repeated(marts: Marts) -> Answer:
    inbound = dated(those(marts("phone_calls"), direction="inbound"), "caller_key")
    calls = [{**row, "month": row["day"].replace(day=1)} for row in inbound]
    answer: Answer = []
    for key, rows in grouped(calls, "practice_id", "month").items():
        times = Counter(row["caller_key"] for row in rows)
        again = sum(number > 1 for number in times.values())
        answer.append((*key, len(times), again, share(again, len(times))))
    return answer


def called_back_on_request(marts: Marts) -> Answer:
    calls = marts("phone_calls")
    outbound = grouped(those(calls, direction="outbound"), "practice_id", "caller_key")
    asked = those(calls, direction="inbound", outcome="callback_requested")
    waits: list[float] = []
    for row in asked:
        back = outbound.get((row["practice_id"], row["caller_key"]), []) if row["caller_key"] else []
        after = [one["called_at"] - row["called_at"] for one in back]
        due = [wait for wait in after if timedelta() < wait <= TWO_WEEKS]
        waits += [min(due) // timedelta(minutes=1) / 60] if due else []
    return [(len(asked), len(waits), rounded(median(waits) if waits else None, 1))]


def acting_difference(marts: Marts) -> Answer:
    answer: Answer = []
    for (practice,), rows in grouped(those(marts("acts_daily"), is_mature=True), "practice_id").items():
        acts, booked, left, left_booked = (
            total(rows, name) or 0 for name in ("acts", "acts_booked", "held_out", "held_out_booked")
        )
        interval = difference_interval(booked, acts, left_booked, left)
        compared = (booked / acts - left_booked / left, *interval) if acts and left else (None, None, None)
        answer.append((practice, acts, booked, left, left_booked, *(rounded(value, 3) for value in compared)))
    return answer


def unlike_others(marts: Marts) -> Answer:
    today = {row["practice_id"]: row["today"] for row in marts("practices")}
    rows = [
        row
        for row in those(marts("anomalies_daily"), is_anomaly=True)
        if row["day"] >= today[row["practice_id"]] - timedelta(days=30)
    ]
    return picked(rows, "practice_id day measure value:2 expected:2 distance:1 verdict")


def canceled_rebooked(marts: Marts) -> Answer:
    known = dated(marts("appointments"), "person_key")
    of_person = grouped(known, "practice_id", "person_key")

    def is_made_again(row: Row) -> bool:
        return any(
            in_two_weeks(row["updated_at"], one["created_at"])
            for one in of_person[row["practice_id"], row["person_key"]]
            if one["appointment_id"] != row["appointment_id"] and one["attendance"] != "canceled"
        )

    canceled = those(known, attendance="canceled")
    return summed(canceled, "practice_id", len, lambda rows: count(rows, is_made_again))


def outreach_compared(marts: Marts) -> Answer:
    made = grouped(dated(marts("appointments"), "client_id"), "practice_id", "client_id")

    def is_booked(row: Row) -> bool:
        own = made.get((row["practice_id"], row["client_id"]), [])
        return any(in_two_weeks(row["created_at"], one["created_at"]) for one in own)

    requests = dated(marts("outreach_requests"), "client_id")
    return summed(requests, "is_contacted", len, lambda rows: count(rows, is_booked))


CONTAINED = share_of("resolved", "resolved", "handed_over", "lost")
ANSWERS: Mapping[str, Callable[[Marts], Answer]] = {
    "missed-hours": missed_by_hour,
    "campaigns": campaigns,
    "leaks-by-week": lambda marts: picked(
        dated(marts("practice_weekly"), "week"), "practice_id week leaks is_final"
    ),
    "refill-outreach": refills,
    "call-back-time": called_back,
    "callers-booked": lambda marts: picked(
        [row for row in those(marts("practice_weekly"), is_final=True) if row["new_booking_callers"]],
        "practice_id week new_booking_callers booked_within_7_days recovered_within_7_days",
    ),
    "month-on-month": months,
    "online-drop-off": stages,
    "call-list": lambda marts: picked(
        ({**row, "is_known": row["client_id"] is not None} for row in marts("leak_list")),
        "practice_id urgency is_known wanted contacts reason age_hours:1",
    ),
    "ways-of-booking": lambda marts: summed(
        ({**row, "week": row["day"] and monday(row["day"])} for row in marts("appointments_daily")),
        "week booked_via",
        "appointments",
        "kept",
        lambda rows: total(rows, "canceled", "no_show"),
    ),
    "suppressions": suppressed,
    "opt-outs": lambda marts: summed(
        those(marts("outreach_outcomes_daily"), is_mature=True),
        "channel",
        "contacted",
        "opted_out",
        share_of("opted_out", "contacted"),
    ),
    "message-delivery": lambda marts: summed(
        ({**row, "by": row["channel_used"] or row["channel_requested"]} for row in marts("messages")),
        "by",
        *map(number_of, ("is_sent", "is_delivered", "is_read")),
        share_of("is_delivered", "is_sent"),
    ),
    "reminders": reminders,
    "final-days": final_through,
    "completeness": lambda marts: summed(
        marts("proof"), "endpoint", "source_count", "warehouse_count", "quarantined_rows"
    ),
    "unlisted-values": lambda marts: summed(
        marts("unknown_values"),
        "mart field",
        lambda rows: len({row["unknown_value"] for row in rows}),
        "occurrences",
    ),
    "repeat-callers": repeated,
    "call-back-response": called_back_on_request,
    "no-shows": lambda marts: summed(
        those(marts("visits_daily"), is_past=True),
        "client_type lead_time",
        "kept",
        "no_show",
        share_of("no_show", "kept", "no_show"),
    ),
    "after-hours": lambda marts: summed(
        marts("call_endings_daily"), "practice_id is_open", "calls", "resolved", "handed_over", "lost", CONTAINED
    ),
    "emergencies": lambda marts: summed(
        those(marts("call_endings_daily"), call_classification="emergency"),
        "practice_id",
        "calls",
        "lost",
        lambda rows: total(those(rows, is_open=False), "lost") or 0,
    ),
    "first-response": lambda marts: summed(
        marts("first_responses_daily"),
        "practice_id",
        "contacts",
        *(f"responded_within_{wait}" for wait in ("5_minutes", "1_hour", "1_day")),
        "responded",
    ),
    "acting-difference": acting_difference,
    "acting-tasks": lambda marts: summed(
        those(marts("acts"), holdout=False),
        "practice_id kind state task_status",
        len,
        number_of("booked_within_14_days"),
    ),
    "unlike-others": unlike_others,
    "peers": lambda marts: picked(
        marts("practice_peers"), "measure practice_id value:3 cases low:3 high:3 peers:3 place verdict"
    ),
    "rebooked": lambda marts: summed(
        marts("rebookings_daily"),
        "practice_id is_mature",
        "kept_visits",
        "booked_when_leaving",
        "booked_within_30_days",
        share_of("booked_within_30_days", "kept_visits"),
    ),
    "new-clients": lambda marts: summed(
        dated(marts("new_clients_monthly"), "month"),
        "month",
        *("new_clients", "came", "came_again", "expected", "missed", "canceled"),
    ),
    "recalls": lambda marts: summed(
        marts("recalls"), "practice_id state", len, number_of("is_booked_before"), number_of("is_booked_after")
    ),
    "waits": lambda marts: summed(
        marts("visit_waits_daily"),
        "practice_id first_channel",
        "with_visit",
        *(share_of(f"seen_within_{days}", "with_visit") for days in ("1_day", "7_days", "14_days")),
    ),
    "lost-hours": lambda marts: summed(marts("call_endings_hourly"), "hour", "calls", "lost", CONTAINED),
    "subjects": lambda marts: summed(
        marts("call_endings_hourly"), "call_classification", "calls", "handed_over", CONTAINED
    ),
    "worth": lambda marts: picked(
        dated(marts("unbooked_value_monthly"), "month"),
        "practice_id month unbooked_requests assumed_value_low assumed_value_high",
    ),
    "cancellations": lambda marts: summed(
        (
            {**row, "ended": row["appointments"] - row["open"]}
            for row in those(marts("visits_daily"), is_past=True)
        ),
        "booked_via",
        "ended",
        "canceled",
        share_of("canceled", "ended"),
    ),
    "phone-load": lambda marts: picked(
        marts("phone_load_hourly"),
        "practice_id weekday hour calls staff_hours_needed:2 usual_at_once most_at_once",
    ),
    "canceled-rebooked": canceled_rebooked,
    "outreach-compared": outreach_compared,
}
"""The functions by the names of the questions."""
