"""The rules of time zones, from one database for the whole process.

The system and the package `tzdata` each have a database, and Python reads the system's first, however old it is.
The newer one decides: importing this module makes `zoneinfo` read it, for vetl and for every library beside it.
polars and DuckDB have databases of their own. polars never converts (`store.instants`).
DuckDB converts in the marts, and `store.instants` compares its rules with these.
"""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from zoneinfo import TZPATH, ZoneInfo, reset_tzpath

_NO_PLACE = ("Factory", "localtime", "posixrules")
"""Names in a database that are no zone: which rules they have depends on the machine."""


def _system_version() -> str:
    """Return the version of the database that Python reads first, such as `2026b`; empty if it has none."""
    for folder in TZPATH:
        for name in ("tzdata.zi", "+VERSION", "version"):
            with suppress(OSError), open(f"{folder}/{name}", encoding="utf-8") as file:  # noqa: PTH123 - no other I/O here
                return file.readline().removeprefix("# version ").strip()
    return ""


def _choose() -> str:
    """Make `zoneinfo` read the newer database, and return its version."""
    of_package, of_system = str(import_module("tzdata").IANA_VERSION), _system_version()
    if of_system > of_package:
        return of_system
    reset_tzpath(())
    ZoneInfo.clear_cache()
    return of_package


_FIRST, _LAST = date(1, 1, 3), date(9999, 12, 29)
"""Days whose local time Python can compute in every zone."""

VERSION = _choose()
"""The version of the database that decides."""


@cache
def zone(name: str) -> ZoneInfo:
    """Return the rules of a zone by its IANA name."""
    return ZoneInfo(name)


@cache
def names() -> tuple[str, ...]:
    """Return the names of all zones: those of the package, which every engine knows."""
    listed = files("tzdata").joinpath("zones").read_text("utf-8").split()
    return tuple(sorted(name for name in listed if name not in _NO_PLACE))


def known_zone(name: str) -> str:
    """Return the name of a zone.

    Raises:
        ValueError: there is no such zone.
    """
    if name in names():
        return name
    nearest = get_close_matches(name, names(), n=1)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    raise ValueError(f"must be an IANA time zone such as America/New_York{hint}")


def offset_at(name: str, at: datetime) -> timedelta | None:
    """Return the difference between the local time of a zone and UTC at an instant."""
    return at.astimezone(zone(name)).utcoffset()


@cache
def offset_of_day(name: str, day: date) -> timedelta | None:
    """Return the difference between the local time and UTC on a local day; `None` if it changes on that day."""
    first = datetime.combine(day, time(), zone(name))
    last = first.replace(hour=23, minute=59, second=59)
    return _only((first.utcoffset(), last.replace(fold=1).utcoffset()))


@cache
def offset_of_utc_day(name: str, day: date) -> timedelta | None:
    """Return the same for a day of UTC."""
    first = datetime.combine(min(max(day, _FIRST), _LAST), time(), UTC)
    ends = (first, first.replace(hour=23, minute=59, second=59))
    return _only([offset_at(name, end) for end in ends])


def _only(offsets: Sequence[timedelta | None]) -> timedelta | None:
    first, last = offsets
    return first if first == last else None
