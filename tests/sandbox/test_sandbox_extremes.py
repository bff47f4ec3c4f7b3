"""Bounds at the ends of the calendar work like all other bounds, in every practice's time zone."""

import pytest
from support.partner_side import Partner

from sandbox import Handle

ALWAYS = ["0001-01-01", "0001-01-01T00:00:00+14:00"]
NEVER = ["9999-12-31", "9999-12-31T23:59:59-12:00"]


@pytest.fixture(params=["loc-001", "loc-002", "loc-003"])
def somewhere(platform: Handle, request: pytest.FixtureRequest) -> Partner:
    return Partner(platform, request.param)


@pytest.mark.parametrize("zone", ["UTC", "practice"])
@pytest.mark.parametrize("name", ["booking_sessions", "appointments"])
def test_ranges_may_begin_and_end_anywhere(somewhere: Partner, name: str, zone: str) -> None:
    somewhere.platform.set(**{name: {"day_zone": zone}})
    whole = len(somewhere.truth(name))
    for first in ALWAYS:
        for last in NEVER:
            assert somewhere.page(name, start_date=first, end_date=last)["total_count"] == whole
            assert somewhere.page(name, start_date=last)["total_count"] == 0
            assert somewhere.page(name, start_date=first, end_date=first)["total_count"] == 0


def test_days_of_calls_may_be_any(somewhere: Partner) -> None:
    whole = len(somewhere.truth("phone_calls"))
    assert somewhere.page("phone_calls", start_date="0001-01-01", end_date="9999-12-31")["total_count"] == whole
    assert somewhere.page("phone_calls", end_date="0001-01-01")["total_count"] == 0
    assert somewhere.page("phone_calls", start_date="9999-12-31")["total_count"] == 0


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_nobody_is_open_at_the_ends_of_time(somewhere: Partner, day: str) -> None:
    assert somewhere.get("open_times", start_date=day, end_date=day).status_code == 200
    assert somewhere.get("open_times", start_date=day).status_code == 200
