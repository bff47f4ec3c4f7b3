"""The time zone from calls alone: confirmed, corrected, or left open."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.discovery.time_zone import (
    USUAL,
    Pair,
    check_zone,
    distinguishing_day,
    fits,
    other_zones_that_fit,
    pairs,
    zones_that_fit,
)

WINTER, SUMMER = datetime(2026, 1, 15, 17, tzinfo=UTC), datetime(2026, 7, 15, 17, tzinfo=UTC)


def calls(zone: str, *starts: datetime, count: int = 5) -> list[Pair]:
    times = [start + timedelta(hours=number) for start in starts for number in range(count)]
    return [(at, at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)) for at in times]


@settings(max_examples=20)
@given(zone=st.sampled_from(USUAL))
def test_a_zone_always_fits_its_own_calls(zone: str) -> None:
    assert fits(zone, calls(zone, WINTER, SUMMER))
    assert check_zone("phone_calls", zone, calls(zone, WINTER, SUMMER)).state == "ok"


def test_only_both_seasons_distinguish_a_zone_with_summer_time() -> None:
    assert {"America/Denver", "America/Phoenix"} <= set(zones_that_fit(calls("America/Phoenix", WINTER)))
    both = zones_that_fit(calls("America/Phoenix", WINTER, SUMMER))
    assert both[0] == "America/Phoenix"
    assert "America/Denver" not in both


def test_the_day_to_look_at_is_one_on_which_the_zones_that_fit_so_far_differ() -> None:
    """Both are seven hours behind in winter; Phoenix stays so."""
    others = other_zones_that_fit("America/Denver", calls("America/Phoenix", WINTER))
    year = date(2025, 1, 16), date(2026, 1, 15)

    day = distinguishing_day("America/Denver", others, *year, seen=())

    assert "America/Phoenix" in others
    assert day is not None
    assert date(2025, 3, 9) < day < date(2025, 11, 2)
    assert distinguishing_day("America/Denver", ["America/Phoenix"], date(2025, 12, 1), year[1], seen=()) is None
    nearby = distinguishing_day("America/Denver", others, *year, seen=(day,))
    assert nearby is None or abs(nearby - day) > timedelta(days=1)


def test_a_wrong_zone_is_corrected_and_the_others_that_fit_are_named() -> None:
    finding = check_zone("phone_calls", "America/Chicago", calls("America/New_York", WINTER, SUMMER))

    assert finding.state == "contradicts"
    assert finding.correction is not None
    assert finding.correction.value == "America/New_York"
    assert "fit as well" in finding.remedy
    assert "-4:00, -5:00" in finding.evidence


@pytest.mark.parametrize("count", [0, 4])
def test_few_calls_prove_nothing(count: int) -> None:
    assert check_zone("phone_calls", "America/Denver", calls("Asia/Tokyo", WINTER, count=count)).state == "unknown"


def test_calls_that_look_alike_are_left_out() -> None:
    record = {"created_at": "2026-01-15T17:00:30Z", "phone_number": "+15550100", "duration_seconds": 61}
    row = {"Date": "2026-01-15 12:00", "Phone Number": "+15550100", "Duration": "1:01"}

    assert pairs([record], [row]) == [(WINTER, datetime(2026, 1, 15, 12))]  # noqa: DTZ001 - practice-local
    assert pairs([record, record], [row]) == []
    assert pairs([record], [row, row]) == []
