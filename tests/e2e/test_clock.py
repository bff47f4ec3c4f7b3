"""The platform's clock is wrong: what is certified stays true, and it is told."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from typing import Any

import pytest
from support.lying_proxy import lying
from support.sandbox_settings import at

Opened = Callable[..., Any]
LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")
STEADY = LISTS[1:]
"""Some calls are told differently later, without a trace: what a reconcile is for, not the next sync."""

DAYS = 5


def later(date: str, hours: int) -> str:
    return format_datetime(parsedate_to_datetime(date) + timedelta(hours=hours), usegmt=True)


@pytest.mark.parametrize("hours", [1, 20])
def test_a_header_that_is_hours_ahead_is_not_followed_and_not_told(opened: Opened, hours: int) -> None:
    """It may be this machine's clock that is wrong: nothing is lost, whichever it is."""
    practices = opened(practices=1, calls=60, days=6, start=datetime.now(UTC).replace(microsecond=0))
    with lying(practices.platform.base_url, dated=partial(later, hours=hours)) as base_url:
        practices.settings = at(practices.settings, base_url)
        for compared in (LISTS, STEADY):
            result = practices.sync(endpoints=LISTS)

            assert (result.exit_code, result.doubts) == (0, ())
            now = practices.platform.now()
            assert all(item.certified_through <= now + timedelta(minutes=6) for item in result.results)
            assert practices.differences(compared) == []
            stamp = (now + timedelta(minutes=1)).isoformat()
            practices.platform.advance(timedelta(minutes=30))
            practices.platform.insert("loc-001", "appointments", {"created_at": stamp, "updated_at": stamp})


def test_a_header_that_is_days_ahead_certifies_nothing_that_has_not_come(opened: Opened) -> None:
    """The platform lives at this machine's time; only the header of its answers is five days ahead."""
    now = datetime.now(UTC).replace(microsecond=0)
    practices = opened(practices=1, calls=60, days=6, start=now)
    with lying(practices.platform.base_url, dated=partial(later, hours=24 * DAYS)) as base_url:
        straight, practices.settings = practices.settings, at(practices.settings, base_url)

        result = practices.sync(endpoints=LISTS)

    assert result.exit_code == 3
    (line,) = result.doubts
    assert line.startswith(f"the platform's clock shows {now + timedelta(days=DAYS):%Y-%m-%d}")
    assert all(item.certified_through <= now + timedelta(minutes=5) for item in result.results)
    practices.settings = straight
    practices.platform.advance(timedelta(hours=3))
    again = practices.sync(endpoints=LISTS)
    assert (again.exit_code, again.doubts) == (0, ())
    assert practices.differences(STEADY) == []


@pytest.mark.parametrize("late", [0, DAYS])
def test_a_platform_that_is_ahead_of_this_machine_with_its_calls_is_believed(opened: Opened, late: int) -> None:
    """So it is this machine's clock that is wrong; later the last sync speaks for the platform's."""
    practices = opened(practices=1, calls=200, days=6, start=datetime.now(UTC) + timedelta(days=30))

    for compared in (LISTS, STEADY):
        result = practices.sync(endpoints=LISTS)

        assert (result.exit_code, result.doubts) == (0, ())
        assert practices.differences(compared) == []
        practices.platform.advance(timedelta(hours=late))
