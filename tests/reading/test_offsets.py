"""Times without an offset get it when they arrive, if the settings say that they are practice-local."""

import pytest
from vetl.core.zones import Times, TimesWithoutOffset, lacks_offset
from vetl.endpoints import by_name

APPOINTMENTS = by_name("appointments")


def times(setting: TimesWithoutOffset | None, zone: str = "America/New_York") -> Times:
    return Times.of(APPOINTMENTS, setting, zone)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-30T14:00:00", "2026-11-30T19:00:00+00:00"),
        ("2026-07-01 14:00", "2026-07-01T18:00:00+00:00"),
        ("20260701T140000,250", "2026-07-01T18:00:00.250000+00:00"),
        ("2026-11-30", "2026-11-30T05:00:00+00:00"),
        ("2026-11-30T24:00", "2026-12-01T05:00:00+00:00"),
        ("2026-11-01T01:30:00", "2026-11-01T05:30:00+00:00"),
        ("2026-03-08T02:30:00", "2026-03-08T07:30:00+00:00"),
    ],
    ids=["winter", "summer", "basic form", "a day", "its end", "twice: the first", "in a gap: forward"],
)
def test_a_practice_local_time_gets_its_offset(text: str, instant: str) -> None:
    read = times("practice").read({"id": "1", "booking_date": text, "patient_name": text})

    assert read == {"id": "1", "booking_date": instant, "patient_name": text}


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-30T14:00:00Z",
        "2026-11-30t14:00z",
        "2026-11-30T14:00:00-05:00",
        "2026-11-30T14:00+01",
        "",
        "soon",
        None,
        5,
    ],
)
@pytest.mark.parametrize("setting", ["practice", "utc", None])
def test_other_values_stay_as_they_are(value: object, setting: TimesWithoutOffset | None) -> None:
    row, read = {"id": "1", "booking_date": value}, times(setting)

    assert read.read(row) is row
    assert not lacks_offset(value)
    assert read.notes == ()


def test_a_time_that_the_calendar_does_not_have_stays() -> None:
    """It is .NET's empty time, and east of Greenwich it would be in the year before the first."""
    row = {"booking_date": "0001-01-01T00:00:00"}

    assert times("practice", "Europe/Berlin").read(row) == row


def test_columns_without_an_offset_are_said_until_the_settings_say_what_they_are() -> None:
    row = {"id": "1", "booking_date": "2026-11-30T14:00:00", "end_date": "2026-11-30T14:30:00", "updated_at": None}
    silent, explained = times(None), times("utc")

    assert silent.read(row) == explained.read(row) == row
    assert explained.notes == ()
    [note] = silent.notes
    assert note.startswith("times without an offset (booking_date, end_date) are read as UTC")
