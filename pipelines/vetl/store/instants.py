"""Parse ISO 8601 in every form, by column: `Z`, offsets, any number of fraction digits, basic format.

A time without an offset is UTC. Digits beyond the microsecond are cut.

Compare DuckDB's rules of time zones, by which the marts convert, with the rules of `core.zones`.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

import duckdb
import polars as pl

from vetl.core.zones import VERSION, offset_at

INSTANT = pl.Datetime("us", "UTC")

_MILLISECONDS = "%Y-%m-%dT%H:%M:%S.%3fZ"
"""The most common form; polars parses it four times as fast as the next one."""
_USUAL_FORM = "%Y-%m-%dT%H:%M:%S%.f%#z"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = (
    (moment - _EPOCH) // timedelta(microseconds=1)
    for moment in (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
)
_END_OF_DAY = re.compile(r"(?<=[T ])24(?=(:?00){0,2}([.,]0+)?([Z+-]|$))")


def parse_column(texts: pl.Series) -> pl.Series:
    """Return the instants of a text column. A text that is no time becomes null: compare the null counts."""
    parsed = texts.str.to_datetime(_MILLISECONDS, time_unit="us", strict=False).dt.replace_time_zone("UTC")
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


def parse(text: str) -> datetime | None:
    """Parse one instant into an aware time in UTC; return `None` if the text is no time."""
    upper = text.strip().upper()
    midnight = _END_OF_DAY.sub("00", upper)
    try:
        value = datetime.fromisoformat(midnight)
        aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return aware if midnight == upper else aware + timedelta(days=1)
    except (ValueError, OverflowError):
        return None


AHEAD = timedelta(days=366)
"""The time after the source's clock that is compared too: new rules are known before they begin."""

_OFFSETS = """
    select epoch_us(moment), epoch_us(timezone($zone, moment)) - epoch_us(moment)
    from (select unnest(range($first::timestamptz, $last::timestamptz, interval 6 hours)) as moment)
"""


def differing(zones: Iterable[str], first: date, last: date) -> dict[str, date]:
    """Return the zones in which DuckDB has another time between two days, each with the first such day."""
    found: dict[str, date] = {}
    days = {"first": datetime.combine(first, time(), UTC), "last": datetime.combine(last, time(), UTC)}
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("set timezone = 'UTC'")
        for name in dict.fromkeys(zones):
            for moment, offset in connection.execute(_OFFSETS, {"zone": name, **days}).fetchall():
                at = _EPOCH + timedelta(microseconds=moment)
                if timedelta(microseconds=offset) != offset_at(name, at):
                    found[name] = at.date()
                    break
    return found


def doubt(name: str, day: date) -> str:
    """Return the line about a zone for which DuckDB has other rules."""
    return (
        f"{name}: from {day:%Y-%m-%d} on DuckDB {duckdb.__version__} has another time than the time zone database"
        f" {VERSION}, so local times in the marts are off; upgrade both: pip install --upgrade duckdb tzdata"
    )
