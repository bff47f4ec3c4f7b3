"""A real build names what the sandbox's practices have: Harbor's Mondays, and the morning its line was down."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
import vetl_sandbox
from support.mart_builds import build_marts_untested
from support.run_once import shared_result
from support.sandbox_settings import settings_for, synced
from vetl.jobs.build import publish_marts
from vetl.settings import Settings

DAYS = 365
"""As `vetl demo` makes it."""


def _made(folder: Path) -> Path:
    with vetl_sandbox.running(practices=3, days=DAYS, frozen=True) as platform:
        platform.advance(timedelta(days=1))
        settings = settings_for(platform, folder, DAYS)
        synced(settings)
    build_marts_untested(settings)
    return publish_marts(settings).path


@pytest.fixture(scope="module")
def ask() -> Iterator[Any]:
    with duckdb.connect(shared_result("headlines", _made), read_only=True) as connection:

        def rows(sql: str) -> list[tuple[Any, ...]]:
            return connection.execute(sql).fetchall()

        yield rows


def test_the_mondays_and_the_dead_morning_of_harbor_are_the_lines(ask: Any) -> None:
    lines = ask(
        "select practice_id, measure, rank, since, until, words from marts.headlines order by rank nulls last"
    )

    assert [(practice, measure) for practice, measure, rank, *_ in lines if rank] == [
        ("loc-001", "answered_weekday"),
        ("loc-001", "answered_hours"),
    ]
    assert "on Mondays" in lines[0][-1]


def test_the_figures_are_those_of_the_calls(ask: Any) -> None:
    [(since, made_of, value)] = ask(
        "select since, made_of, value from marts.headlines where measure = 'answered_hours' and rank is not null"
    )
    [(hours,)] = ask("select regexp_extract(words, 'from (.*) calls were', 1) from marts.headlines where rank = 2")
    first, last = (int(part.split(":")[0]) for part in hours.split(" to "))
    [(answered, calls)] = ask(
        "select count(*) filter (where is_answered), count(*) from marts.phone_calls where practice_id = 'loc-001'"
        f" and direction = 'inbound' and day = date '{since}' and hour(called_at_local) >= {first}"
        f" and hour(called_at_local) < {last}"
    )

    assert made_of == f"{answered} of {calls} calls"
    assert value == pytest.approx(answered / calls)


def test_a_second_build_keeps_them_and_the_day_they_were_stated(tmp_path: Path) -> None:
    with vetl_sandbox.running(practices=1, days=DAYS, frozen=True) as platform:
        platform.advance(timedelta(days=1))
        settings = settings_for(platform, tmp_path, DAYS)
        synced(settings)
        build_marts_untested(settings)
        before = _kept(settings)
        assert before
        platform.advance(timedelta(days=10))
        synced(settings)
        build_marts_untested(settings)

    after = _kept(settings)
    assert {key: row[0] for key, row in before.items()} == {key: after[key][0] for key in before}
    dead_morning = next(key for key in before if key[0] == "answered_hours")
    assert before[dead_morning][1] is not None
    assert after[dead_morning][1] is None


def _kept(settings: Settings) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    with duckdb.connect(str(settings.warehouse.path), read_only=True) as connection:
        rows = connection.execute("select measure, since, first_seen, rank from marts.headlines").fetchall()
    return {row[:2]: row[2:] for row in rows}
