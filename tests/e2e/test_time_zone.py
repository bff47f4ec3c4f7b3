"""A time zone that is nearly right: doctor finds the difference, and a sync that contradicts it reports it."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import duckdb
import pytest

from pipelines.jobs.doctor import run_doctor

Opened = Callable[..., Any]


def in_zone(practices: Any, zone: str) -> None:
    (practice,) = practices.settings.practices
    changed = (replace(practice, time_zone=zone),)
    practices.settings = practices.settings.model_copy(update={"practices": changed})


def test_a_zone_that_is_right_in_winter_only_does_not_pass_the_doctor(opened: Opened) -> None:
    """Jamaica has New York's winter time all year; here only the oldest calls are in summer time."""
    practices = opened(practices=1, calls=600, days=90)
    assert practices.settings.practices[0].time_zone == "America/New_York"

    def states() -> dict[str, str]:
        report = run_doctor(
            practices.settings, practices=None, endpoints=["phone_calls"], config=None, progress=lambda _: None
        )
        return {item.found: item.state for item in report.practices[0].findings if item.check == "time zone"}

    assert states() == {"America/New_York": "ok"}
    in_zone(practices, "America/Jamaica")
    assert states() == {"America/New_York": "contradicts"}


def test_a_sync_that_contradicts_the_zone_says_so_until_it_is_corrected(opened: Opened) -> None:
    practices = opened(practices=1, calls=200, days=10)
    in_zone(practices, "America/Chicago")

    for _ in range(2):
        result = practices.sync(endpoints=["phone_calls"])

        assert result.exit_code == 3
        assert 'America/Chicago does not: set time_zone = "America/New_York"' in result.results[0].reason

    in_zone(practices, "America/New_York")
    corrected = practices.sync(endpoints=["phone_calls"])
    assert corrected.exit_code == 0
    assert practices.differences(["phone_calls"]) == []


@pytest.mark.parametrize("wrong", ["America/Chicago", "Asia/Tokyo"])
def test_after_a_zone_was_corrected_the_next_sync_attaches_every_id(opened: Opened, wrong: str) -> None:
    """This also holds on a day on which older days were already tried in vain, in the wrong zone."""
    practices = opened(practices=1, calls=600, days=60)
    in_zone(practices, wrong)
    practices.sync()
    practices.platform.advance(timedelta(days=1, minutes=2))
    practices.sync()

    in_zone(practices, "America/New_York")
    corrected = practices.sync()

    assert corrected.exit_code == 0, corrected
    assert practices.differences() == []
    assert calls_without_id(practices) == 0


def calls_without_id(practices: Any) -> int:
    with duckdb.connect(str(practices.warehouse), read_only=True) as connection:
        [(count,)] = connection.execute("select count(*) from raw.phone_calls where id is null").fetchall()
    return count
