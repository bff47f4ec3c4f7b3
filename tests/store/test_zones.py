"""Local times by one database of time zones, for every zone and every change of its clock from 1990 to 2035.

polars brings a database of its own, which may be older: it says summer time for Vancouver in November 2026.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import polars as pl
import pytest
from support.zones import other_rules
from vetl.core import zones
from vetl.store.instants import add_called_at, differences, local_minutes

FIRST, LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
STEP = timedelta(days=5)
AROUND = [timedelta(minutes=minutes) for minutes in (-61, -31, -1, 0, 1, 31, 61, 720)]


def changes(rules: ZoneInfo) -> Iterator[datetime]:
    """The minutes at which the zone's clock is changed."""
    before = FIRST
    while before < LAST:
        after = before + STEP
        if rules.utcoffset(before.astimezone(rules)) != rules.utcoffset(after.astimezone(rules)):
            low, high = before, after
            while high - low > MINUTE:
                middle = low + (high - low) // MINUTE // 2 * MINUTE
                same = middle.astimezone(rules).utcoffset() == low.astimezone(rules).utcoffset()
                low, high = (middle, high) if same else (low, middle)
            yield high
        before = after


def different_zones() -> list[str]:
    """Every set of rules once: many zones are only another name."""
    rules: dict[bytes, str] = {}
    for name in zones.names():
        rules.setdefault(files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes(), name)
    return sorted(rules.values())


@pytest.mark.parametrize("half", [0, 1])
def test_every_zone_is_converted_as_python_does(half: int) -> None:
    months = [
        datetime(year, month, 15, 12, 30, tzinfo=UTC) for year in range(1990, 2036) for month in range(1, 13)
    ]
    for name in different_zones()[half::2]:
        rules = zones.zone(name)
        at = sorted({*months, *(change + past for change in changes(rules) for past in AROUND)})
        local = [moment.astimezone(rules).replace(tzinfo=None, fold=0) for moment in at]
        instants, practices = pl.Series(at, dtype=pl.Datetime("us", "UTC")), pl.Series(["p"] * len(at))

        assert local_minutes(instants, practices, {"p": name}).to_list() == local, name

        calls = pl.DataFrame({"called_at_local": local, "practice_id": practices})
        back, gaps = add_called_at(calls.with_columns(call_date=pl.col("called_at_local").dt.date()), name)
        assert gaps == []
        for called, moment, shown in zip(back["called_at"], at, local, strict=True):
            both = [shown.replace(tzinfo=rules, fold=fold).astimezone(UTC) for fold in (0, 1)]
            assert called in (both if both[0] != both[1] else [moment]), (name, moment)


def test_the_newer_database_decides_and_every_engine_knows_its_zones() -> None:
    """British Columbia stays on summer time from 2026-11-01 on, which the databases know from 2026b on."""
    winter = datetime(2026, 12, 1, 20, tzinfo=UTC)
    assert zones.VERSION >= "2026b"
    assert winter.astimezone(ZoneInfo("America/Vancouver")).hour == 13
    with duckdb.connect() as connection:
        known = {name for (name,) in connection.execute("select name from pg_timezone_names()").fetchall()}
    assert set(zones.names()) <= known
    assert {"localtime", "Factory"}.isdisjoint(zones.names())


def test_a_zone_with_other_rules_in_duckdb_is_found(tmp_path: Path) -> None:
    with other_rules("America/Vancouver", "America/Phoenix", tmp_path):
        found = differences(["America/Vancouver", "America/New_York"], date(2025, 4, 1))

    [spans] = found.values()
    assert list(found) == ["America/Vancouver"]
    # Phoenix has Vancouver's summer time all year.
    assert spans[0] == (datetime(2025, 11, 2, 9, tzinfo=UTC), datetime(2026, 3, 8, 10, tzinfo=UTC), 3600)
