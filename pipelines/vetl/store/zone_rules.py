"""Compare DuckDB's rules of time zones, by which the marts convert, with the rules of `core.zones`."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

import duckdb

from vetl.core.zones import VERSION, offset_at

AHEAD = timedelta(days=366)
"""The time after the source's clock that is compared too: new rules are known before they begin."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
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
