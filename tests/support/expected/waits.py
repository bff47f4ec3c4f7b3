"""From a booking request to its visit, and the worth of those that are not booked, implemented a second time."""

from datetime import timedelta
from typing import Any

from support.expected.demand import day_of, episodes, is_anonymous
from support.mart_inputs import Expected, Known

DAY = timedelta(days=1)


def visit_waits_daily(source: Known) -> Expected:
    """Return the days of booked requests of clients."""
    firsts = ((practice, one, one.contacts[0]) for practice, one in episodes(source) if one.booking)
    return {
        (practice, day_of(source, practice, one), first.channel): {}
        for practice, one, first in firsts
        if first.begun_by == "client"
    }


def unbooked_value_monthly(source: Known) -> Expected:
    """Return the months of unbooked requests of known people. The settings assume no value."""
    days = (
        (practice, day_of(source, practice, one))
        for practice, one in episodes(source)
        if one.booking is None and one.contacts[0].begun_by == "client" and not is_anonymous(one)
    )
    worth: dict[str, Any] = dict.fromkeys(("assumed_value_low", "assumed_value_high"))
    return {(practice, day.replace(day=1) if day else None): worth for practice, day in days}
