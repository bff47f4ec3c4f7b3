"""Forecasts of `vetl forecast` beside random rows: some hours are predicted twice, some are over, some ahead."""

from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from support.random_rows import ZONES, Row, Tables

MEASURES = ("calls", "bookable_calls", "staff_minutes")


def random_forecasts(random: Random, clock: datetime) -> Tables:
    """Return the rows of `control.forecasts`: three forecasts of three practices, each about five days."""
    made = [(practice, clock - timedelta(days=ago)) for practice in ("ny", "syd", "phx") for ago in (9, 7, 2)]
    return {
        "control.forecasts": [
            _row(random, practice, at, days, hour)
            for practice, at in made
            for days in range(1, 6)
            for hour in random.sample(range(24), 10)
        ]
    }


def _row(random: Random, practice: str, at: datetime, days: int, hour: int) -> Row:
    zone = ZoneInfo(ZONES[practice])
    made_on = at.astimezone(zone).date()
    day = made_on + timedelta(days=days)
    row: Row = {"practice_id": practice, "made_on": made_on, "made_at": at, "weeks": 9, "day": day, "hour": hour}
    row["begins_at"] = datetime(day.year, day.month, day.day, hour, tzinfo=zone).astimezone(UTC)
    for measure in MEASURES:
        expected = random.randrange(500) / 100
        row |= {measure: expected, f"{measure}_low": expected / 2, f"{measure}_high": expected * 2}
        row[f"{measure}_naive"] = float(random.randrange(3))
    return row
