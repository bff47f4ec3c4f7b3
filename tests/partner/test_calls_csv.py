"""A JSON record and its CSV row are the same call."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.core.errors import BadRecord
from pipelines.partner.calls_csv import DURATION_PATTERN, render

NEW_YORK = ZoneInfo("America/New_York")
CALL = {
    "id": "call-1",
    "created_at": "2026-03-08T07:30:59.900Z",
    "practice_name": "Harbor Animal Hospital",
    "direction": "inbound",
    "state": "in_progress",
    "caller_type": "existing",
    "client_name": "",
    "patient_name": None,
    "phone_number": "+15550104477",
    "call_classification": "price_shopping",
    "summary": 'Asked, "how much?"\nTwice.',
    "customer_sentiment": "Very positive",
    "outcome": "appointment_booked",
    "booked": True,
    "booking_intent": False,
    "duration_seconds": 3725,
}


def test_a_record_is_seen_as_its_csv_row() -> None:
    """The first minute of summer time: 07:30 UTC is 03:30, an hour earlier it was 01:30."""
    assert render(CALL, NEW_YORK) == {
        "called_at_local": datetime(2026, 3, 8, 3, 30),  # noqa: DTZ001 - practice-local
        "practice": "Harbor Animal Hospital",
        "direction": "inbound",
        "state": "in_progress",
        "caller_type": "existing",
        "client_name": None,
        "patient_name": None,
        "phone_number": "+15550104477",
        "call_classification": "price_shopping",
        "booking_intent": False,
        "summary": 'Asked, "how much?"\nTwice.',
        "customer_sentiment": "very_positive",
        "outcome": "appointment_booked",
        "booked": True,
        "duration_seconds": 3725,
    }


def test_a_record_that_does_not_fit_names_its_fields_and_no_value() -> None:
    with pytest.raises(BadRecord, match=r"unusable created_at, id$") as caught:
        render({"created_at": "Ann O'Neill"}, NEW_YORK)
    assert "Neill" not in repr(caught.value) + repr(caught.value.__cause__)


@given(st.integers(0, 10**6))
def test_durations_are_minutes_and_seconds_or_with_hours(seconds: int) -> None:
    plain = re.match(DURATION_PATTERN, f"{seconds // 60}:{seconds % 60:02}")
    hours = re.match(DURATION_PATTERN, f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}")
    for match in (plain, hours):
        assert match
        parts = [int(part or 0) for part in match.groups()]
        assert parts[0] * 3600 + parts[1] * 60 + parts[2] == seconds
