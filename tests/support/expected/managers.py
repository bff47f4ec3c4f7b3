"""The answers to the questions about marts that compare: days, practices, clients, visits."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from support.cells import count
from support.expected.answers import Answer, Marts, grouped, picked, share, total
from support.expected.questions import ANSWERS as ANALYSTS
from support.random_rows import Row


def unlike_others(marts: Marts) -> Answer:
    today = {row["practice_id"]: row["today"] for row in marts("practices")}
    rows = [
        row
        for row in marts("anomalies_daily")
        if row["is_anomaly"] and row["day"] >= today[row["practice_id"]] - timedelta(days=30)
    ]
    return picked(rows, "practice_id", "day", "measure", "value:2", "expected:2", "distance:1", "verdict")


def peers(marts: Marts) -> Answer:
    columns = ("measure", "practice_id", "value:3", "cases", "low:3", "high:3", "peers:3", "place", "verdict")
    return picked(marts("practice_peers"), *columns)


def rebooked(marts: Marts) -> Answer:
    answer: Answer = []
    for key, rows in grouped(marts("rebookings_daily"), "practice_id", "is_mature").items():
        kept, soon = total(rows, "kept_visits") or 0, total(rows, "booked_within_30_days") or 0
        answer.append((*key, kept, total(rows, "booked_when_leaving"), soon, share(soon, kept)))
    return answer


def new_clients(marts: Marts) -> Answer:
    columns = ("new_clients", "came", "came_again", "expected", "missed", "canceled")
    dated = [row for row in marts("new_clients_monthly") if row["month"]]
    return [
        (month, *(total(rows, name) for name in columns)) for (month,), rows in grouped(dated, "month").items()
    ]


def recalls(marts: Marts) -> Answer:
    return [
        (
            *key,
            len(rows),
            *(count(rows, lambda row, at=at: row[at]) for at in ("is_booked_before", "is_booked_after")),
        )
        for key, rows in grouped(marts("recalls"), "practice_id", "state").items()
    ]


def waits(marts: Marts) -> Answer:
    answer: Answer = []
    for key, rows in grouped(marts("visit_waits_daily"), "practice_id", "first_channel").items():
        visits = total(rows, "with_visit") or 0
        seen = [total(rows, f"seen_within_{days}") or 0 for days in ("1_day", "7_days", "14_days")]
        answer.append((*key, visits, *(share(within, visits) for within in seen)))
    return answer


def contained(rows: list[dict[str, Any]]) -> float | None:
    ended = [total(rows, name) or 0 for name in ("resolved", "handed_over", "lost")]
    return share(ended[0], sum(ended))


def lost_hours(marts: Marts) -> Answer:
    return [
        (hour, total(rows, "calls"), total(rows, "lost"), contained(rows))
        for (hour,), rows in grouped(marts("call_endings_hourly"), "hour").items()
    ]


def subjects(marts: Marts) -> Answer:
    return [
        (subject, total(rows, "calls"), total(rows, "handed_over"), contained(rows))
        for (subject,), rows in grouped(marts("call_endings_hourly"), "call_classification").items()
    ]


def worth(marts: Marts) -> Answer:
    dated = [row for row in marts("unbooked_value_monthly") if row["month"]]
    columns = ("practice_id", "month", "unbooked_requests", "assumed_value_low", "assumed_value_high")
    return picked(dated, *columns)


def cancellations(marts: Marts) -> Answer:
    past = [row for row in marts("visits_daily") if row["is_past"]]
    answer: Answer = []
    for (way,), rows in grouped(past, "booked_via").items():
        ended, canceled = sum(row["appointments"] - row["open"] for row in rows), total(rows, "canceled") or 0
        answer.append((way, ended, canceled, share(canceled, ended)))
    return answer


def phone_load(marts: Marts) -> Answer:
    columns = ("practice_id", "weekday", "hour", "calls", "staff_hours_needed:2", "usual_at_once", "most_at_once")
    return picked(marts("phone_load_hourly"), *columns)


def canceled_rebooked(marts: Marts) -> Answer:
    known = [row for row in marts("appointments") if row["person_key"]]
    of_person = grouped(known, "practice_id", "person_key")
    canceled = [row for row in known if row["attendance"] == "canceled"]

    def is_made_again(row: Row) -> bool:
        made = [
            one["created_at"]
            for one in of_person[row["practice_id"], row["person_key"]]
            if one["appointment_id"] != row["appointment_id"] and one["attendance"] != "canceled"
        ]
        return any(in_two_weeks(row["updated_at"], at) for at in made)

    by_practice = grouped(canceled, "practice_id").items()
    return [(practice, len(rows), count(rows, is_made_again)) for (practice,), rows in by_practice]


def outreach_compared(marts: Marts) -> Answer:
    made = grouped([row for row in marts("appointments") if row["client_id"]], "practice_id", "client_id")
    requests = grouped([row for row in marts("outreach_requests") if row["client_id"]], "is_contacted")

    def is_booked(row: Row) -> bool:
        own = made.get((row["practice_id"], row["client_id"]), [])
        return any(in_two_weeks(row["created_at"], one["created_at"]) for one in own)

    return [(contacted, len(rows), count(rows, is_booked)) for (contacted,), rows in requests.items()]


def in_two_weeks(since: datetime | None, at: datetime | None) -> bool:
    return since is not None and at is not None and since <= at <= since + timedelta(days=14)


ANSWERS: Mapping[str, Callable[[Marts], Answer]] = {
    **ANALYSTS,
    "unlike-others": unlike_others,
    "peers": peers,
    "rebooked": rebooked,
    "new-clients": new_clients,
    "recalls": recalls,
    "waits": waits,
    "lost-hours": lost_hours,
    "subjects": subjects,
    "worth": worth,
    "cancellations": cancellations,
    "phone-load": phone_load,
    "canceled-rebooked": canceled_rebooked,
    "outreach-compared": outreach_compared,
}
"""The functions by the names of all questions."""
