"""The part of a row that a proof keeps, and times near the ends of the calendar."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.reading.rows import LONGEST_KEY, evidence_of, instant, key_of, key_of_id, updated_at

VALUES = st.none() | st.integers() | st.text(max_size=2 * LONGEST_KEY) | st.datetimes().map(str)
ROWS = st.dictionaries(st.sampled_from(["id", "updated_at", "created_at", "notes"]), VALUES)
ENDS = ("0001-01-01T00:00:00Z", "0001-01-07T23:59:59Z", "9999-12-31T23:59:59-14:00", "9999-12-25T00:00:01Z")


@given(ROWS)
def test_it_proves_as_much_as_the_row_and_has_a_bounded_size(row: dict[str, Any]) -> None:
    kept = evidence_of(row)

    assert key_of(kept) == key_of(row)
    assert updated_at(kept) == updated_at(row)
    assert sum(len(str(value)) for value in kept.values()) <= 3 * LONGEST_KEY
    if isinstance(row.get("id"), str):
        assert key_of_id(row["id"]) == key_of(row)


@pytest.mark.parametrize("text", ENDS)
def test_a_time_at_an_end_of_the_calendar_counts_as_none(text: str) -> None:
    assert instant(text) is None


@given(st.datetimes(min_value=datetime(1, 1, 8, 1), max_value=datetime(9999, 12, 24, 23)))  # noqa: DTZ001 - UTC is meant
def test_every_other_time_has_a_local_time_in_every_zone_and_room_for_margins(at: datetime) -> None:
    known = instant(f"{at.isoformat()}Z")

    assert known
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        assert (known - timedelta(hours=36)).astimezone(ZoneInfo(zone)) < known + timedelta(hours=36)
