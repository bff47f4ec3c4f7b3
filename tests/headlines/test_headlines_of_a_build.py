"""A real build names what Harbor has: its Mondays, and the morning its line was down (`docs/first-answer.md`)."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import vetl_sandbox
from support.mart_builds import build_marts_untested
from support.sandbox_settings import settings_for, synced
from support.warehouse_with_rows import ask
from vetl.settings import Settings

DAYS = 365
"""As `vetl demo` makes it."""


def test_lines_have_the_figures_of_the_calls_and_a_second_build_keeps_them_and_the_day_they_were_stated(
    tmp_path: Path,
) -> None:
    with vetl_sandbox.running(practices=1, days=DAYS, frozen=True) as platform:
        platform.advance(timedelta(days=1))
        settings = settings_for(platform, tmp_path, DAYS)
        synced(settings)
        build_marts_untested(settings)
        before = _kept(settings)
        assert [measure for (measure, _), row in before.items() if row[1]] == [
            "answered_weekday",
            "answered_hours",
        ]
        _assert_figures_are_those_of_the_calls(settings.warehouse.path)
        platform.advance(timedelta(days=10))
        synced(settings)
        build_marts_untested(settings)

    after = _kept(settings)
    assert {key: row[0] for key, row in before.items()} == {key: after[key][0] for key in before}
    dead_morning = next(key for key in before if key[0] == "answered_hours")
    assert before[dead_morning][1] is not None
    assert after[dead_morning][1] is None


def _assert_figures_are_those_of_the_calls(warehouse: Path) -> None:
    [(since, made_of, value, hours)] = ask(
        warehouse,
        "select since, made_of, value, regexp_extract(words, 'from (.*) calls were', 1) from marts.headlines"
        " where measure = 'answered_hours' and rank is not null",
    )
    first, last = (int(part.split(":")[0]) for part in hours.split(" to "))
    [(answered, calls)] = ask(
        warehouse,
        "select count(*) filter (where is_answered), count(*) from marts.phone_calls where practice_id = 'loc-001'"
        f" and direction = 'inbound' and day = date '{since}' and hour(called_at_local) >= {first}"
        f" and hour(called_at_local) < {last}",
    )

    assert made_of == f"{answered} of {calls} calls"
    assert value == pytest.approx(answered / calls)


def _kept(settings: Settings) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    rows = ask(
        settings.warehouse.path,
        "select measure, since, first_seen, rank from marts.headlines order by rank nulls last",
    )
    return {row[:2]: row[2:] for row in rows}
