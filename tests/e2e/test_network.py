"""The network fails in the middle of a run: each list reports it in one line, and the next sync continues."""

import socket
from collections.abc import Callable
from typing import Any

import pytest
from support.sandbox_settings import at
from support.tcp_proxy import Door, door_before

import sandbox
from pipelines.core.errors import Unreachable
from pipelines.core.results import Progress, Waiting

Opened = Callable[..., Any]
LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks", "clients", "patients")
BUSY = {"practices": 1, "calls": 400, "days": 40}
SMALL = {"practices": 1, "calls": 60, "days": 6}


def behind(practices: Any, door: Door, timeout_seconds: float = 10) -> None:
    """Make the settings name the proxy, with this time-out."""
    settings = at(practices.settings, door.base_url)
    partner = settings.partner.model_copy(update={"timeout_seconds": timeout_seconds})
    practices.settings = settings.model_copy(update={"partner": partner})


def failures(result: Any) -> dict[str, str]:
    assert all(item.retryable for item in result.results if item.state == "failed")
    return {item.endpoint: item.reason for item in result.results if item.state == "failed"}


def test_a_platform_that_disappears_costs_the_lists_and_the_next_sync_goes_on(opened: Opened) -> None:
    practices = opened(**SMALL)
    practices.sync()
    practices.platform.faults.set([sandbox.Fault("status", path="*/appointments", in_a_row=None)])

    result = practices.sync()

    assert result.exit_code == 1
    (failed,) = [item for item in result.results if item.state == "failed"]
    assert failed.retryable
    assert "503" in failed.reason
    practices.platform.faults.set([])
    assert practices.sync().exit_code == 0
    assert practices.differences() == []


def test_a_connection_that_is_reset_and_then_refused_costs_the_list_and_the_next_sync_goes_on(
    opened: Opened,
) -> None:
    """The network fails in the first read of each list in turn."""
    practices = opened(**BUSY)
    with door_before(practices.platform.base_url) as door:
        behind(practices, door)
        for number, name in enumerate(LISTS, 1):
            door.after = 4_000

            result = practices.sync(endpoints=[name])

            assert door.slams == number
            assert result.exit_code == 1
            assert "no connection" in failures(result)[name]
            assert "\n" not in failures(result)[name]
            door.open()
            assert practices.sync(endpoints=[name]).exit_code == 0, name
    assert practices.differences() == []


def test_a_dead_network_is_reported_for_every_unfinished_list(opened: Opened) -> None:
    """Requests are accepted but never answered, and the connection stays open: only the time-out ends them."""
    practices = opened(**BUSY)
    with door_before(practices.platform.base_url) as door:
        behind(practices, door, timeout_seconds=0.3)
        lists = ("booking_sessions", "staff_tasks")

        def stall(event: Progress | Waiting) -> None:
            if isinstance(event, Progress):
                door.stall()

        result = practices.sync(endpoints=lists, progress=stall)

        assert result.exit_code == 1
        assert any("no answer in time" in reason for reason in failures(result).values())
        door.open()
        assert practices.sync(endpoints=lists).exit_code == 0
    assert practices.differences(lists) == []


def test_a_name_that_nobody_knows_is_one_line_and_leaves_the_warehouse_as_it_is(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    practices = opened(practices=1, calls=20, days=3)
    practices.settings = at(practices.settings, "https://platform.invalid")

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    with pytest.raises(Unreachable, match=r"sign-in: no connection: .*Name or service not known") as caught:
        practices.sync()

    assert caught.value.exit_code == 1
    assert not practices.warehouse.exists()
