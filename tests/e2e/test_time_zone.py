"""A wrong time zone: a sync that contradicts it reports it, and after a correction the next one mends all."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import duckdb

Opened = Callable[..., Any]


def in_zone(practices: Any, zone: str) -> None:
    (practice,) = practices.settings.practices
    changed = (replace(practice, time_zone=zone),)
    practices.settings = practices.settings.model_copy(update={"practices": changed})


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


def test_after_a_zone_was_corrected_the_next_sync_attaches_every_id(opened: Opened) -> None:
    """This also holds on a day on which older days were already tried in vain, in the wrong zone."""
    practices = opened(practices=1, calls=600, days=60)
    in_zone(practices, "Asia/Tokyo")
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
