"""A practice about which nothing is known: nothing of it is certified."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pipelines.core.errors import ConfigurationError
from pipelines.jobs.doctor import run_doctor

Opened = Callable[..., Any]
SMALL = {"practices": 1, "calls": 60, "days": 6}


def with_first_practice(practices: Any, **other: Any) -> Any:
    """Return settings in which the first practice differs."""
    first, *rest = practices.settings.practices
    return practices.settings.model_copy(update={"practices": (replace(first, **other), *rest)})


def states(result: Any, practice_id: str) -> set[str]:
    return {item.state for item in result.results if item.practice_id == practice_id}


@pytest.mark.parametrize("endpoints", [None, ["patients", "clients"]])
def test_a_practice_that_the_platform_refuses_is_certified_in_nothing(
    opened: Opened, endpoints: list[str] | None
) -> None:
    """This happens after a typing mistake in its id; the other practice is read as usual."""
    practices = opened(practices=2, calls=60, days=6)
    practices.settings = with_first_practice(practices, id="loc-999")

    result = practices.sync(endpoints=endpoints)

    assert states(result, "loc-999") == {"failed"}
    assert all("403" in item.reason for item in result.results if item.practice_id == "loc-999")
    assert states(result, practices.settings.practices[1].id) == {"certified"}
    assert result.exit_code == 1


def test_history_may_start_today_but_not_in_the_future(opened: Opened) -> None:
    practices = opened(**SMALL)
    today = practices.platform.now().astimezone().date()
    tomorrow = today + timedelta(days=2)
    practices.settings = with_first_practice(practices, history_start=tomorrow, time_zone="UTC")

    for command in (practices.sync, lambda: doctor(practices.settings)):
        with pytest.raises(ConfigurationError, match=f"history_start = {tomorrow} of loc-001 is in the future"):
            command()

    assert not practices.warehouse.exists()
    practices.settings = with_first_practice(practices, history_start=today, time_zone="UTC")
    assert practices.sync(endpoints=["staff_tasks"]).exit_code == 0


def doctor(settings: Any) -> None:
    run_doctor(settings, practices=None, endpoints=None, config=None, progress=lambda _: None)
