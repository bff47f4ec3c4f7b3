"""A practice about which nothing is known: nothing of it is certified."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

import sandbox
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


@pytest.mark.parametrize("endpoints", [None, ["clients"], ["patients", "clients"]])
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


def test_clients_of_a_practice_of_which_no_list_was_answered_are_not_certified(opened: Opened) -> None:
    practices = opened(**SMALL)
    practices.platform.faults.set([sandbox.Fault("status", path="*open_api*", status=500, in_a_row=None)])

    assert states(practices.sync(), "loc-001") == {"failed"}


def test_the_start_of_history_may_be_today_and_not_tomorrow(opened: Opened) -> None:
    practices = opened(**SMALL)
    today = practices.platform.now().astimezone().date()
    practices.settings = with_first_practice(practices, history_start=today, time_zone="UTC")
    assert practices.sync(endpoints=["staff_tasks"]).exit_code == 0

    practices.settings = with_first_practice(practices, history_start=today + timedelta(days=2))
    with pytest.raises(ConfigurationError, match="history_start") as caught:
        practices.sync()

    assert caught.value.exit_code == 2
    assert "loc-001" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_start_in_the_future_leaves_no_warehouse_and_is_refused_by_doctor_too(opened: Opened) -> None:
    practices = opened(**SMALL)
    practices.settings = with_first_practice(practices, history_start=date(2127, 1, 1))

    for command in (practices.sync, lambda: doctor(practices.settings)):
        with pytest.raises(ConfigurationError, match="history_start = 2127-01-01 of loc-001 is in the future"):
            command()

    assert not practices.warehouse.exists()


def doctor(settings: Any) -> None:
    run_doctor(settings, practices=None, endpoints=None, config=None, progress=lambda _: None)
