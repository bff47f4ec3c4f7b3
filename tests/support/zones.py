"""Time zones from the tzdata package: the system's own files may be older than DuckDB's."""

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo


@cache
def zone(name: str) -> ZoneInfo:
    """Return a zone by its IANA name, read from the package."""
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def on_the_wall(instant: datetime | None, name: str | None) -> datetime | None:
    """Return the wall-clock time in the zone; None if either is unknown."""
    return instant.astimezone(zone(name)).replace(tzinfo=None) if instant and name else None


def midnight(day: date, name: str) -> datetime:
    return datetime.combine(day, time(), zone(name)).astimezone(UTC)


def day_after(day: date) -> date:
    return day + timedelta(days=1)
