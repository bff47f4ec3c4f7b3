"""Instants of rows: ISO 8601 in every form, and practice-local minutes in every hour of a clock change.

A time without an offset is UTC; digits beyond the microsecond are cut. `differences` compares DuckDB's rules of
time zones with those of `core.zones`; the marts convert by DuckDB's, and correct the times that differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import duckdb
import polars as pl

from vetl.core import zones
from vetl.core.zones import VERSION, offset_at, parse
from vetl.store.connection import Connection

INSTANT = pl.Datetime("us", "UTC")

_MILLISECONDS = "%Y-%m-%dT%H:%M:%S.%3fZ"
"""The most common form; polars parses it four times as fast as the next one."""
_USUAL_FORM = "%Y-%m-%dT%H:%M:%S%.f%#z"
_MINUTE = timedelta(minutes=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = (
    (moment - _EPOCH) // timedelta(microseconds=1)
    for moment in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
)


def parse_column(texts: pl.Series) -> pl.Series:
    """Return the instants of a text column. A text that is no time becomes null: compare the null counts."""
    # Most instants are different, so a cache of them would take as long as the parsing.
    in_milliseconds = texts.str.to_datetime(_MILLISECONDS, time_unit="us", strict=False, cache=False)
    parsed = in_milliseconds.dt.replace_time_zone("UTC")
    if parsed.null_count() > texts.null_count():
        parsed = texts.str.to_datetime(_USUAL_FORM, time_unit="us", strict=False)
    parsed = within_the_calendar(parsed)
    if parsed.null_count() == texts.null_count():
        return parsed
    # Other forms are rare, so each distinct text is parsed by itself.
    rest = texts.filter(parsed.is_null() & texts.is_not_null()).unique()
    instants = {text: instant for text in rest if (instant := parse(text)) is not None}
    if not instants:
        return parsed
    read = texts.replace_strict(
        list(instants), pl.Series(list(instants.values()), dtype=INSTANT), default=None, return_dtype=INSTANT
    )
    return parsed.zip_with(parsed.is_not_null(), read)


def within_the_calendar(parsed: pl.Series, margin: timedelta = timedelta()) -> pl.Series:
    """Set years before 1 and after 9999 to null: polars has them, Python and the warehouse's readers do not.

    Times that are less than `margin` away from these are set to null, too.
    """
    micros, room = parsed.to_physical(), margin // timedelta(microseconds=1)
    outside = (micros < _FIRST + room) | (micros > _LAST - room)
    return parsed.set(outside, None) if outside.any() else parsed


_OFFSETS = """
    select epoch_us(moment), epoch_us(timezone($zone, moment)) - epoch_us(moment)
    from (select unnest(range($first::timestamptz, $last::timestamptz, interval 6 hours)) as moment)
"""

Span = tuple[datetime, datetime, int]
"""A time in which DuckDB shows another local time: its first instant, its end, the seconds to add."""


def differences(time_zones: Iterable[str], first: date) -> dict[str, list[Span]]:
    """Return the zones in which DuckDB has another local time from a day to the end of next year, and when."""
    return compared(frozenset(time_zones), first, datetime.now(UTC).year + 2)


@cache
def compared(time_zones: frozenset[str], first: date, year: int) -> dict[str, list[Span]]:
    """Return `differences` until a year begins."""
    # A local day begins up to 14 hours before that of UTC.
    begin, end = datetime.combine(first, time(), UTC) - timedelta(days=1), datetime(year, 1, 1, tzinfo=UTC)
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("set timezone = 'UTC'")
        found = {name: list(_spans(connection, name, begin, end)) for name in sorted(time_zones)}
    return {name: spans for name, spans in found.items() if spans}


def _spans(connection: Connection, name: str, begin: datetime, end: datetime) -> Iterator[Span]:
    def seconds_at(first: datetime, last: datetime) -> Iterator[tuple[datetime, int]]:
        given = {"zone": name, "first": first, "last": last}
        for moment, offset in connection.execute(_OFFSETS, given).fetchall():
            at = _EPOCH + timedelta(microseconds=moment)
            difference = (offset_at(name, at) or timedelta()) - timedelta(microseconds=offset)
            yield at, round(difference.total_seconds())

    start = begin
    for (earlier, before), (later, after) in pairwise([(begin, 0), *seconds_at(begin, end), (end, 0)]):
        if before != after:
            low, high = earlier, later
            while high - low > _MINUTE:
                middle = low + (high - low) // _MINUTE // 2 * _MINUTE
                ((_, seconds),) = seconds_at(middle, middle + _MINUTE)
                low, high = (middle, high) if seconds == before else (low, middle)
            if before:
                yield start, high, before
            start = high


def doubt(name: str, spans: Sequence[Span]) -> str:
    """Return the line about a zone for which DuckDB has other rules."""
    return (
        f"{name}: from {spans[0][0]:%Y-%m-%d} on DuckDB {duckdb.__version__} has another time than the time zone"
        f" database {VERSION}, which the marts follow; other queries need: pip install --upgrade duckdb tzdata"
    )


def add_called_at(calls: pl.DataFrame, time_zone: str) -> tuple[pl.DataFrame, list[str]]:
    """Add `called_at` to calls of one zone; each practice's calls are in the CSV's order.

    Also return the practice of each call at a minute that does not exist in the zone; such a call is shifted
    forward by the gap. For a minute that exists twice the order of the calls within the day decides (`folds`), and
    the first instant is used if the order does not decide.
    """
    offsets = {day: zones.offset_of_day(time_zone, day) for day in calls["call_date"].unique()}
    calls = calls.with_columns(
        called_at=(pl.col("called_at_local") - _of_days(pl.col("call_date"), offsets))
        .dt.replace_time_zone("UTC")
        .cast(INSTANT)
    )
    turning = [day for day, offset in offsets.items() if offset is None]
    if not turning:
        return calls, []
    zone = zones.zone(time_zone)
    turned = calls.with_row_index("_row").filter(pl.col("call_date").is_in(turning))
    rows: list[int] = []
    resolved: list[datetime] = []
    gaps: list[str] = []
    for (practice_id, _), day in turned.group_by("practice_id", "call_date", maintain_order=True):
        local = day["called_at_local"].to_list()
        rows += day["_row"].to_list()
        resolved += [_utc(minute, fold, zone) for minute, fold in zip(local, folds(local, zone), strict=True)]
        gaps += [practice_id for minute in local if _shift(minute, zone) > timedelta(0)]
    called_at = calls["called_at"].scatter(rows, pl.Series(resolved, dtype=INSTANT))
    return calls.with_columns(called_at), gaps


def add_called_at_by_zone(
    calls: pl.DataFrame, time_zones: Mapping[str, str]
) -> tuple[pl.DataFrame, list[tuple[str, str]]]:
    """Add `called_at` to calls of several practices by `time_zones`; return the gaps with their zones."""
    parts: list[pl.DataFrame] = []
    gaps: list[tuple[str, str]] = []
    for zone, practices in _by_zone(time_zones):
        part, missing = add_called_at(calls.filter(pl.col("practice_id").is_in(practices)), zone)
        parts.append(part)
        gaps += [(practice_id, zone) for practice_id in missing]
    return pl.concat(parts), gaps


def days_between(first: date, last: date) -> list[date]:
    """Return the days from `first` to `last`, both included."""
    return [first + timedelta(days=past) for past in range((last - first).days + 1)]


def local_minutes(instants: pl.Series, practices: pl.Series, time_zones: Mapping[str, str]) -> pl.Series:
    """Return instants as the CSV shows them: local to the practice of each, cut to the minute."""
    calls = pl.DataFrame({"at": instants.dt.replace_time_zone(None), "practice_id": practices})
    result = pl.Series("called_at_local", [None] * calls.height, dtype=pl.Datetime("us"))
    for zone, of_zone in _by_zone(time_zones):
        within = calls["practice_id"].is_in(of_zone)
        if within.any():
            result = result.zip_with(~within, _local_minutes(calls["at"], zone))
    return result


def _local_minutes(instants: pl.Series, time_zone: str) -> pl.Series:
    minutes = instants.dt.truncate("1m")
    days = instants.dt.date()
    offsets = {day: zones.offset_of_utc_day(time_zone, day) for day in days.unique() if day is not None}
    local = pl.select(minutes + _of_days(pl.lit(days), offsets)).to_series()
    turning = [day for day, offset in offsets.items() if offset is None]
    if not turning:
        return local
    zone = zones.zone(time_zone)
    rows = days.is_in(turning).arg_true()
    shown = [_local(at, zone) for at in minutes[rows].to_list()]
    return local.scatter(rows, pl.Series(shown, dtype=pl.Datetime("us")))


def _of_days(days: pl.Expr, offsets: Mapping[date, timedelta | None]) -> pl.Expr:
    """Return the offset of each day, null if it changes on that day."""
    # Not by polars' own rules: polars 2.1 has a database that is older than Python's and DuckDB's.
    known = pl.Series(list(offsets.values()), dtype=pl.Duration("us"))
    return days.replace_strict(pl.Series(list(offsets), dtype=pl.Date()), known, default=None)


def _by_zone(time_zones: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    different = dict.fromkeys(time_zones.values())
    return [(zone, [name for name, its in time_zones.items() if its == zone]) for zone in different]


def folds(minutes: Sequence[datetime], zone: ZoneInfo) -> list[int]:
    """Return which of its two instants each local minute of one day is: 0 for the first, 1 for the second.

    The order of the calls decides if the day ascends or descends throughout, except for one step back in the
    repeated hour. If both orders are possible, or neither is, all minutes count as the first instant.
    """
    undecided = [0] * len(minutes)
    upwards = _folds_upwards(minutes, zone)
    downwards = _folds_upwards(minutes[::-1], zone)
    possible = [way for way in (upwards, downwards and downwards[::-1]) if way is not None]
    return possible[0] if len(possible) == 1 else undecided


def _folds_upwards(minutes: Sequence[datetime], zone: ZoneInfo) -> list[int] | None:
    fold = 0
    result: list[int] = []
    before = datetime.min.replace(tzinfo=UTC)
    for minute in minutes:
        repeated = _shift(minute, zone) < timedelta(0)
        if repeated and not fold and _utc(minute, 0, zone) < before:
            fold = 1
        own = fold if repeated else 0
        instant = _utc(minute, own, zone)
        if instant < before:
            return None
        result.append(own)
        before = instant
    return result


def _shift(minute: datetime, zone: ZoneInfo) -> timedelta:
    """Return the change of offset at a local minute: negative if it exists twice, positive if it is missing."""
    first, second = (minute.replace(tzinfo=zone, fold=fold).utcoffset() or timedelta(0) for fold in (0, 1))
    return second - first


def _utc(minute: datetime, fold: int, zone: ZoneInfo) -> datetime:
    return minute.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def _local(at: datetime, zone: ZoneInfo) -> datetime:
    return at.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None, fold=0)
