"""The rules of time zones, from one database for the whole process.

The system and the package `tzdata` each have a database, and Python reads the system's first, however old it is.
The newer one decides: importing this module makes `zoneinfo` read it, for vetl and for every library beside it.
polars and DuckDB have databases of their own. polars never converts (`store.instants`).
DuckDB converts in the marts, and `store.instants` compares its rules with these.

Also times without an offset, and the comparison of calls in JSON and CSV with the rules of a zone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Literal, Self
from zoneinfo import TZPATH, ZoneInfo, reset_tzpath

from pydantic import BaseModel

from vetl.core.endpoint import Endpoint, Kind, columns_of
from vetl.core.pages import Row, instant

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
    """Return the name of a zone. Raise `ValueError` if there is no such zone."""
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


TimesWithoutOffset = Literal["utc", "practice"]
"""What a time without an offset is: UTC, or practice-local. The contract says ISO 8601, which leaves it open."""

_WITHOUT_OFFSET = re.compile(r"\s*\d{4}-?\d\d-?\d\d([T ][\d:.,]+)?\s*", re.IGNORECASE)
_END_OF_DAY = re.compile(r"(?<=[T ])24(?=(:?00){0,2}([.,]0+)?([Z+-]|$))")


def lacks_offset(value: object) -> bool:
    """Return whether a value is a time, or a day, without an offset."""
    return isinstance(value, str) and value[-1:] not in "Zz" and _WITHOUT_OFFSET.fullmatch(value) is not None


def parse(text: str, without_offset: tzinfo = UTC) -> datetime | None:
    """Parse one instant into an aware time in UTC; return `None` if the text is no time."""
    upper = text.strip().upper()
    midnight = _END_OF_DAY.sub("00", upper)
    try:
        value = datetime.fromisoformat(midnight)
        value = value if midnight == upper else value + timedelta(days=1)
        return (value.replace(tzinfo=without_offset) if value.tzinfo is None else value).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@dataclass(slots=True)
class Times:
    """The times in the rows of one list of a practice, by `[partner] times_without_offset`.

    Practice-local times get their offset when a row arrives, so that windows, cursors and the store read the same
    instant. `lacking` are the columns in which a time had none.
    """

    columns: tuple[str, ...]
    setting: TimesWithoutOffset | None
    time_zone: str
    lacking: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, endpoint: Endpoint, setting: TimesWithoutOffset | None, time_zone: str) -> Self:
        """Return the times of a list."""
        return cls.of_record(endpoint.record, setting, time_zone)

    @classmethod
    def of_record(cls, record: type[BaseModel], setting: TimesWithoutOffset | None, time_zone: str) -> Self:
        """Return the times of rows of this model."""
        instants = (column.name for column in columns_of(record) if column.kind is Kind.INSTANT)
        return cls(tuple(instants), setting, time_zone)

    def read(self, row: Row) -> Row:
        """Return the row; practice-local times have their offset."""
        lacking = [name for name in self.columns if lacks_offset(row.get(name))]
        if not lacking:
            return row
        self.lacking.update(lacking)
        if self.setting != "practice":
            return row
        local = zone(self.time_zone)
        return {**row, **{name: at.isoformat() for name in lacking if (at := parse(row[name], local))}}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a line about times without an offset until the settings say what they are."""
        if self.setting or not self.lacking:
            return ()
        names = ", ".join(sorted(self.lacking))
        return (f"times without an offset ({names}) are read as UTC; set [partner] times_without_offset",)


ENOUGH = 5
"""Calls that must agree before a zone is believed."""

Pair = tuple[datetime, datetime]
"""One call: its instant, cut to the minute, and its practice-local minute as the CSV shows it."""

_ALIKE = ("direction", "client_name", "patient_name", "phone_number", "duration_seconds", "summary")
"""Columns by which a call is recognised; the time is left out, because its zone is the open question."""


def pairs(records: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]]) -> list[Pair]:
    """Pair calls of the CSV, by raw column, with JSON records; leave out those that another one resembles."""
    here = [(tuple(row[name] for name in _ALIKE), row["called_at_local"]) for row in rows]
    listed = [(tuple(_hashable(record.get(name)) for name in _ALIKE), record) for record in records]
    times, alike = dict(here), Counter(key for key, _ in (*here, *listed))
    calls: list[Pair] = []
    for key, record in listed:
        at = instant(record.get("created_at"))
        if at is not None and key in times and alike[key] == 2:  # noqa: PLR2004 - once in either form
            calls.append((at.replace(second=0, microsecond=0), times[key]))
    return calls


def _hashable(value: object) -> object:
    """Return a field of a record as a column would hold it. A list or an object is in no column."""
    return None if not value or isinstance(value, list | dict) else value


def contradiction(configured: str, calls: Sequence[Pair]) -> str | None:
    """Return why the configured zone is wrong; `None` if it fits or too few calls show it.

    No other zone is named, because these are calls of a few days and the clocks of zones differ by season.
    """
    if len(calls) < ENOUGH or fits(configured, calls):
        return None
    return f"{differences(calls)}, {configured} does not: run `vetl doctor`, which compares calls of a whole year"


def fits(name: str, calls: Sequence[Pair]) -> bool:
    """Return whether every call has its local minute in this zone."""
    rules = zone(name)
    return all(at.astimezone(rules).replace(tzinfo=None) == local for at, local in calls)


def differences(calls: Sequence[Pair]) -> str:
    """Return the number of the calls, and the differences between their two times, as evidence."""
    offsets = ", ".join(sorted({_offset(at, local) for at, local in calls}))
    return f"{len(calls)} calls in JSON and CSV differ by {offsets} from UTC"


def _offset(at: datetime, local: datetime) -> str:
    minutes = int((local - at.astimezone(UTC).replace(tzinfo=None)).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours}:{rest:02}"
