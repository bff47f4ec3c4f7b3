"""Time zones as vetl reads them, and a database with other rules."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo, reset_tzpath

from vetl.core import zones
from vetl.core.zones import zone
from vetl.store import instants


@contextmanager
def other_rules(name: str, rules_of: str, folder: Path) -> Generator[None]:
    """Give a zone the rules of another one, as a database of another version would."""
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_bytes(files("tzdata").joinpath("zoneinfo", *rules_of.split("/")).read_bytes())
    try:
        _read_from(folder)
        yield
    finally:
        _read_from()


def _read_from(*folders: Path) -> None:
    reset_tzpath([str(folder.absolute()) for folder in folders])
    ZoneInfo.clear_cache()
    for cached in (zones.zone, zones.offset_of_day, zones.offset_of_utc_day, instants.compared):
        cached.cache_clear()


def on_the_wall(instant: datetime | None, name: str | None) -> datetime | None:
    """Return the wall-clock time in the zone; None if either is unknown."""
    return instant.astimezone(zone(name)).replace(tzinfo=None) if instant and name else None


def midnight(day: date, name: str) -> datetime:
    return datetime.combine(day, time(), zone(name)).astimezone(UTC)


def day_after(day: date) -> date:
    return day + timedelta(days=1)
