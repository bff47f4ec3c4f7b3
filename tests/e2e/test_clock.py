"""Wrong clocks and zones: certificates stay true, the difference is reported, and a correction mends all."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from functools import partial
from typing import Any

import pytest
from support.lists import PAGED
from support.lying_proxy import lying
from support.sandbox_settings import at
from support.warehouse_with_rows import ask

STEADY = PAGED[1:]
"""Lists without those whose rows change later without a trace, which only a reconcile finds."""
DAYS = 5


def later(date: str, hours: int) -> str:
    return format_datetime(parsedate_to_datetime(date) + timedelta(hours=hours), usegmt=True)


def test_a_header_that_is_hours_ahead_is_not_followed_and_not_reported(opened: Any) -> None:
    """This machine's clock may be the wrong one: in either case no row is lost."""
    practices = opened(practices=1, calls=60, days=6, start=datetime.now(UTC).replace(microsecond=0))
    with lying(practices.platform.base_url, dated=partial(later, hours=20)) as base_url:
        practices.settings = at(practices.settings, base_url)
        for compared in (PAGED, STEADY):
            result = practices.sync(endpoints=PAGED)

            assert (result.exit_code, result.doubts) == (0, ())
            now = practices.platform.now()
            assert all(item.certified_through <= now + timedelta(minutes=6) for item in result.results)
            assert practices.differences(compared) == []
            stamp = (now + timedelta(minutes=1)).isoformat()
            practices.platform.advance(timedelta(minutes=30))
            practices.platform.insert("loc-001", "appointments", {"created_at": stamp, "updated_at": stamp})


def test_a_header_that_is_days_ahead_certifies_nothing_that_has_not_come(opened: Any) -> None:
    """The platform uses this machine's time; only its `Date` header is five days ahead."""
    now = datetime.now(UTC).replace(microsecond=0)
    practices = opened(practices=1, calls=60, days=6, start=now)
    with lying(practices.platform.base_url, dated=partial(later, hours=24 * DAYS)) as base_url:
        straight, practices.settings = practices.settings, at(practices.settings, base_url)

        result = practices.sync(endpoints=PAGED)

    assert result.exit_code == 3
    (line,) = result.doubts
    assert line.startswith(f"the platform's clock shows {now + timedelta(days=DAYS):%Y-%m-%d}")
    assert all(item.certified_through <= now + timedelta(minutes=5) for item in result.results)
    practices.settings = straight
    practices.platform.advance(timedelta(hours=3))
    again = practices.sync(endpoints=PAGED)
    assert (again.exit_code, again.doubts) == (0, ())
    assert practices.differences(STEADY) == []


def test_answers_from_a_cache_certify_through_their_own_date(opened: Any) -> None:
    """A cache keeps the `Date` of the answer that it repeats, which is older than that of the first answers."""
    practices = opened(practices=1, calls=60, days=6)
    dates: list[str] = []

    def cached(date: str) -> str:
        dates.append(date)
        return date if len(dates) < 5 else later(date, -1)

    with lying(practices.platform.base_url, dated=cached) as base_url:
        practices.settings = at(practices.settings, base_url)
        result = practices.sync(endpoints=PAGED)

    cached_at = practices.platform.now() - timedelta(hours=1)
    assert all(item.certified_through <= cached_at for item in result.results)


@pytest.mark.parametrize("late", [0, DAYS])
def test_a_platform_that_is_ahead_of_this_machine_with_its_calls_is_believed(opened: Any, late: int) -> None:
    """In this case this machine's clock is wrong; later the last sync confirms the platform's clock."""
    practices = opened(practices=1, calls=200, days=6, start=datetime.now(UTC) + timedelta(days=30))

    for compared in (PAGED, STEADY):
        result = practices.sync(endpoints=PAGED)

        assert (result.exit_code, result.doubts) == (0, ())
        assert practices.differences(compared) == []
        practices.platform.advance(timedelta(hours=late))


def in_zone(practices: Any, zone: str) -> None:
    (practice,) = practices.settings.practices
    changed = (replace(practice, time_zone=zone),)
    practices.settings = practices.settings.model_copy(update={"practices": changed})


def test_a_sync_that_contradicts_the_zone_says_so_until_it_is_corrected(opened: Any) -> None:
    practices = opened(practices=1, calls=200, days=10)
    in_zone(practices, "America/Chicago")

    for _ in range(2):
        result = practices.sync(endpoints=["phone_calls"])

        assert result.exit_code == 3
        assert "America/Chicago does not: run `vetl doctor`" in result.results[0].reason

    in_zone(practices, "America/New_York")
    assert practices.mended(["phone_calls"])


def test_after_a_zone_was_corrected_the_next_sync_attaches_every_id(opened: Any) -> None:
    """This also holds on a day on which older days were already tried in vain, in the wrong zone."""
    practices = opened(practices=1, calls=600, days=60)
    in_zone(practices, "Asia/Tokyo")
    practices.sync()
    practices.platform.advance(timedelta(days=1, minutes=2))
    practices.sync()

    in_zone(practices, "America/New_York")

    assert practices.mended()
    assert ask(practices.warehouse, "from raw.phone_calls where id is null") == []
