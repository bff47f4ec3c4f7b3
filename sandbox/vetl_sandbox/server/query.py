"""Query parameters: read one by one; every fault is collected before the request is refused."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final, TypeVar

import polars as pl
from starlette.datastructures import QueryParams

from vetl_sandbox.server.envelopes import FieldError, Invalid
from vetl_sandbox.switches import ListSwitches

Value = TypeVar("Value")

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_WHOLE: Final = re.compile(r"-?\d{1,9}", re.ASCII)
_EARLIEST: Final = date(2, 1, 1)
_LATEST: Final = date(9998, 1, 1)
Bound = date | datetime


class Query:
    """The parameters of one request."""

    def __init__(self, parameters: QueryParams) -> None:
        self._parameters = parameters
        self._read: set[str] = set()
        self._errors: list[FieldError] = []

    def text(self, name: str) -> str | None:
        """Return a parameter's value, None if it is missing or empty."""
        self._read.add(name)
        return self._parameters.get(name) or None

    def texts(self, name: str) -> list[str]:
        """Return a parameter's values, given once or repeated as `name[]`."""
        self._read |= {name, f"{name}[]"}
        return [value for key in (name, f"{name}[]") for value in self._parameters.getlist(key) if value]

    def choice(self, name: str, allowed: Sequence[str]) -> str | None:
        """Return a value that must be one of a few."""
        value = self.text(name)
        if value is not None and value not in allowed:
            self.fault(name, f"{name} must be one of: {', '.join(allowed)}")
            return None
        return value

    def flag(self, name: str) -> bool | None:
        """Return a parameter that is `true` or `false`."""
        value = self.choice(name, ("true", "false"))
        return None if value is None else value == "true"

    def integer(self, name: str, default: int, least: int) -> int:
        """Return a whole number, not below `least`."""
        value = self.text(name)
        if value is None:
            return default
        if not _WHOLE.fullmatch(value) or int(value) < least:
            self.fault(name, f"{name} must be an integer of at least {least}")
            return default
        return int(value)

    def day(self, name: str) -> date | None:
        """Return a date as `YYYY-MM-DD`."""
        return self._parsed(
            name, lambda value: _reckonable(_as_day(value)), f"{name} must be a date in the format YYYY-MM-DD"
        )

    def bound(self, name: str, *, required: bool = False, days_only: bool = False) -> Bound | None:
        """Return a date, or a date and time in ISO 8601 unless only days are taken."""
        if required and self.text(name) is None:
            self.fault(name, f"{name} is required")
        if days_only:
            return self.day(name)
        return self._parsed(name, _as_bound, f"{name} must be an ISO 8601 date-time")

    def fault(self, field: str | None, message: str) -> None:
        """Note something wrong with a parameter, or with the request as a whole."""
        self._errors.append(FieldError(field, message))

    def finish(self, *, refuse_unknown: bool = False) -> None:
        """Raise Invalid if there was a fault."""
        if refuse_unknown:
            for name in self._parameters:
                if name not in self._read:
                    self.fault(name, f"{name} is not a parameter of this endpoint")
        if self._errors:
            raise Invalid(self._errors)

    def _parsed(self, name: str, parse: Callable[[str], Value], fault: str) -> Value | None:
        value = self.text(name)
        if value is None:
            return None
        try:
            return parse(value)
        except ValueError:
            self.fault(name, fault)
            return None


def _as_day(value: str) -> date:
    if not _DAY.fullmatch(value):
        raise ValueError(value)
    return date.fromisoformat(value)


def _as_bound(value: str) -> Bound:
    if _DAY.fullmatch(value):
        return _reckonable(_as_day(value))
    moment = datetime.fromisoformat(value)
    day = _reckonable(moment.date())
    return moment if day == moment.date() else datetime.combine(day, time(), tzinfo=UTC)


def _reckonable(day: date) -> date:
    """Return the day itself, or the nearest that every time zone can compute with: no row is as old or new."""
    return min(max(day, _EARLIEST), _LATEST)


def start_of(day: date, zone: tzinfo) -> datetime:
    """Return the first instant of a day in a zone."""
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)


def day_range(first: date | None, last: date | None, zone: tzinfo) -> pl.Expr:
    """Return the rows created on whole local days, both ends included (contract: List phone calls)."""
    chosen = pl.lit(True)
    if first is not None:
        chosen &= pl.col("created_at") >= start_of(first, zone)
    if last is not None and last < date.max:
        chosen &= pl.col("created_at") < start_of(last + timedelta(days=1), zone)
    return chosen


def updated_range(
    start: Bound | None, end: Bound | None, switches: ListSwitches, practice_zone: tzinfo, now: datetime
) -> pl.Expr:
    """Return the rows last updated between two bounds, read with the switched inclusiveness and granularity."""
    zone = practice_zone if switches.day_zone == "practice" else UTC
    chosen = pl.lit(True)
    if end is None or "end" in switches.ignored:
        end = None
        if switches.default_end == "midnight":
            chosen &= pl.col("updated_at") < start_of(now.astimezone(zone).date(), zone)
    if start is not None and "start" not in switches.ignored:
        chosen &= _after(start, switches.bounds[0] == "[", switches.granularity == "day", zone)
    if end is not None:
        chosen &= ~_after(end, switches.bounds[1] != "]", switches.granularity == "day", zone)
    return chosen


def _after(bound: Bound, inclusive: bool, by_day: bool, zone: tzinfo) -> pl.Expr:  # noqa: FBT001 - private
    """Return the rows on or after a bound, or only those after it; a bound without a time means its whole day."""
    updated = pl.col("updated_at")
    if isinstance(bound, datetime):
        moment = bound if bound.tzinfo else bound.replace(tzinfo=zone)
        if not by_day:
            moment = moment.astimezone(UTC)
            return updated >= moment if inclusive else updated > moment
        bound = moment.astimezone(zone).date()
    return updated >= start_of(bound if inclusive else bound + timedelta(days=1), zone)
