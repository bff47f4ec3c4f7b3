"""Local minutes as instants, also if they exist twice or not at all in the zone."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.loading.phone_calls.times import add_called_at, folds

NEW_YORK = ZoneInfo("America/New_York")
AUTUMN = date(2025, 11, 2)


def local(*clock: str, day: date = AUTUMN) -> list[datetime]:
    return [datetime.fromisoformat(f"{day} {text}") for text in clock]


def called_at(minutes: list[datetime], zone: str) -> tuple[list[datetime], int]:
    calls = pl.DataFrame({"called_at_local": minutes}, schema={"called_at_local": pl.Datetime("us")})
    calls = calls.with_columns(call_date=pl.col("called_at_local").dt.date(), practice_id=pl.lit("p1"))
    resolved, gaps = add_called_at(calls, zone)
    return resolved["called_at"].to_list(), len(gaps)


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        (("00:50", "01:10", "01:50", "01:05", "01:30", "02:10"), [0, 0, 0, 1, 1, 0]),
        (("02:10", "01:30", "01:05", "01:50", "01:10", "00:50"), [0, 1, 1, 0, 0, 0]),
        (("00:50", "01:10", "01:50", "02:10"), [0, 0, 0, 0]),
        (("01:50", "00:10", "01:05", "02:10"), [0, 0, 0, 0]),
        (("01:10", "01:10", "01:10"), [0, 0, 0]),
        (("01:50", "01:10"), [0, 0]),
        (("01:10",), [0]),
        ((), []),
    ],
    ids=["upwards", "downwards", "no step back", "no order", "equal", "either order", "alone", "none"],
)
def test_the_order_of_the_day_decides_the_repeated_hour(clock: tuple[str, ...], expected: list[int]) -> None:
    assert folds(local(*clock), NEW_YORK) == expected


moments = st.lists(
    st.integers(0, 25 * 60 - 1).map(
        lambda minute: datetime(2025, 11, 2, 4, tzinfo=UTC) + timedelta(minutes=minute)
    ),
    unique=True,
    min_size=1,
).map(sorted)


@given(instants=moments, newest_first=st.booleans())
def test_a_day_with_a_step_back_is_resolved_to_the_minute(instants: list[datetime], *, newest_first: bool) -> None:
    """A real day of 25 hours in either order: all instants are right if the order shows the hour at all."""
    listed = instants[::-1] if newest_first else instants
    shown = [instant.astimezone(NEW_YORK).replace(tzinfo=None, fold=0) for instant in listed]
    resolved, gaps = called_at(shown, "America/New_York")

    way_up = sorted(shown) == shown
    way_down = sorted(shown, reverse=True) == shown
    outside = all(not 60 <= (minute.hour * 60 + minute.minute) < 120 for minute in shown)
    assert gaps == 0
    if outside or (not way_up and not way_down and folds(shown, NEW_YORK) != [0] * len(shown)):
        assert resolved == listed
    assert [item.astimezone(NEW_YORK).replace(tzinfo=None, fold=0) for item in resolved] == shown
