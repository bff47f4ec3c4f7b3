"""From a booking request to its visit, and the worth of those that are not booked, implemented a second time."""

from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

from support.cells import median_of
from support.expected.demand import day_of, episodes, is_anonymous
from support.mart_inputs import Expected, Known

DAY = timedelta(days=1)


def visit_waits_daily(source: Known) -> Expected:
    cells: dict[Any, list[float | None]] = defaultdict(list)
    for practice, one in episodes(source):
        first = one.contacts[0]
        if one.booking and first.begun_by == "client":
            visit = (one.appointment or {}).get("booking_date")
            wait = (visit - first.at) / DAY if visit else None
            cells[practice, day_of(source, practice, one), first.channel].append(wait)
    return {key: waited(waits) for key, waits in cells.items()}


def waited(waits: list[float | None]) -> dict[str, Any]:
    known = [wait for wait in waits if wait is not None]
    return {
        "booked": len(waits),
        "with_visit": len(known),
        **{
            f"seen_within_{name}": sum(wait <= days for wait in known)
            for name, days in (("1_day", 1), ("7_days", 7), ("14_days", 14))
        },
        "median_days_to_visit": median_of(known),
    }


def unbooked_value_monthly(source: Known) -> Expected:
    """Return the unbooked requests of known people. The settings assume no value."""
    counts: Counter[Any] = Counter()
    for practice, one in episodes(source):
        if one.booking is None and one.contacts[0].begun_by == "client" and not is_anonymous(one):
            day = day_of(source, practice, one)
            counts[practice, day.replace(day=1) if day else None] += 1
    return {key: (number, None, None) for key, number in counts.items()}
