"""The marts of practices, their calendar, and the values that the interface does not list."""

from collections import Counter
from datetime import date, timedelta
from typing import Any

from support.cells import hours
from support.contract_values import VALUES
from support.expected.rows import latest_reminders
from support.mart_inputs import Expected, Known
from support.zones import day_after, midnight, on_the_wall

NAMES = {"ai_outbound": ("outreach_requests", "ai_outbound_requests")}
"""A list's mart and its table, if both have other names."""
OPEN = {
    "phone_calls": {"customer_sentiment": ""},
    "booking_sessions": {"stage": "started", "client_type": ""},
    "appointments": {"client_type": ""},
}
"""The fields without such a list, and the values that the contract shows."""


def unknown_values(source: Known) -> Expected:
    occurrences = Counter[tuple[Any, ...]]()
    for name, fields in VALUES.items():
        mart, table = NAMES.get(name, (name, name))
        for row in latest_reminders(source) if name == "service_reminders" else source.rows(table):
            for field, listed in (fields | OPEN.get(name, {})).items():
                shown = "status" if field == "group_status" else field
                if row.get(field) and row[field] not in listed.split():
                    occurrences[row["practice_id"], mart, shown, row[field]] += 1
    return {key: (times,) for key, times in occurrences.items()}


def practices(source: Known) -> Expected:
    expected: dict[Any, dict[str, Any]] = {}
    for one in source.practices:
        local = on_the_wall(source.as_of(one.id), one.time_zone)
        expected[(one.id,)] = {
            **{name: getattr(one, name) for name in ("name", "time_zone", "history_start")},
            "group_name": one.group,
            "as_of": source.as_of(one.id),
            "as_of_local": local,
            "today": local and local.date(),
        }
    return expected


def practice_days(source: Known) -> Expected:
    """Return every day once, those of spring and autumn included."""
    expected: dict[Any, tuple[Any, ...]] = {}
    for practice in source.practices:
        day, now = practice.history_start, source.as_of(practice.id)
        today = on_the_wall(now, practice.time_zone)
        while now and today and day <= today.date():
            start, end = (midnight(at, practice.time_zone) for at in (day, day_after(day)))
            monday = day - timedelta(days=day.isoweekday() - 1)
            first = date(day.year, day.month, 1)
            since = now - end
            final, old = since >= timedelta(days=14), since >= timedelta(days=7)
            times = (hours(start, end), end <= now, final, old, False, start, end)
            expected[practice.id, day] = (day.isoweekday(), monday, first, *times)
            day = day_after(day)
    return expected
