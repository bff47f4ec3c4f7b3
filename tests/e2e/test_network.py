"""The network, the sign-in, a list or the process fails in the middle of a run, and the next sync goes on."""

import json
import socket
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import vetl_sandbox
from support.killed_sync import sync_until_killed
from support.lying_proxy import lying
from support.sandbox_settings import at, changed
from support.tcp_proxy import Door, door_before
from vetl.core.errors import Unreachable
from vetl.core.list_read import Progress, Waiting
from vetl.endpoints import REGISTRY
from vetl.store.notes import read_note
from vetl.store.warehouse import Warehouse

BUSY = {"practices": 1, "calls": 400, "days": 40}
SMALL = {"practices": 1, "calls": 60, "days": 6}


def behind(practices: Any, door: Door, timeout_seconds: float = 10) -> None:
    partner = {"base_url": door.base_url, "timeout_seconds": timeout_seconds}
    practices.settings = changed(practices.settings, partner=partner)


def failures(result: Any) -> dict[str, str]:
    assert all(item.retryable for item in result.results if item.state == "failed")
    return {item.endpoint: item.reason for item in result.results if item.state == "failed"}


def test_a_platform_that_disappears_costs_the_lists_and_the_next_sync_goes_on(opened: Any) -> None:
    practices = opened(**SMALL)
    practices.sync()
    practices.platform.faults.set([vetl_sandbox.Fault("status", path="*/appointments", in_a_row=None)])

    result = practices.sync()

    assert result.exit_code == 1
    (failed,) = [item for item in result.results if item.state == "failed"]
    assert failed.retryable
    assert "503" in failed.reason
    practices.platform.faults.set([])
    assert practices.mended()


def test_a_dead_network_is_reported_for_every_unfinished_list(opened: Any) -> None:
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
        assert practices.mended(lists)


def test_a_name_that_nobody_knows_is_one_line_and_leaves_the_warehouse_as_it_is(
    opened: Any, monkeypatch: pytest.MonkeyPatch
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


REFUSED = {"success": False, "data": None, "message": "no"}


def test_a_token_with_three_uses_reads_all_lists_and_is_reported(opened: Any) -> None:
    practices = opened(practices=2, calls=60, days=6)
    uses: Counter[str] = Counter()

    def instead(_: str, authorization: str) -> tuple[int, dict[str, Any]] | None:
        uses[authorization] += 1
        return (401, REFUSED) if authorization and uses[authorization] > 3 else None

    with lying(practices.platform.base_url, instead=instead) as base_url:
        practices.settings = at(practices.settings, base_url)
        result = practices.sync()

    assert result.exit_code == 0
    assert practices.differences() == []
    assert result.sign_ins == len(uses) - 1  # and one entry for all sign-ins
    assert result.notes[0].startswith(f"signed in {result.sign_ins} times for ")


def test_a_killed_sync_resumes_and_certified_windows_are_not_read_again(opened: Any, tmp_path: Path) -> None:
    practices = opened(practices=1, calls=1500, days=150)

    def some_window_is_certified() -> bool:
        return '"covered"' in json.dumps(read_note(practices.warehouse, "status"))

    killed = sync_until_killed(practices.settings, tmp_path / "ended", 0.0, after=some_window_is_certified)
    with Warehouse.open(practices.warehouse, REGISTRY, lock_wait_seconds=5) as warehouse:
        done = [item.endpoint for item in warehouse.status() if (item.cursor or {}).get("covered")]
    result = practices.sync()

    assert killed
    assert done
    assert practices.differences() == []
    requests = {item.endpoint: item.requests for item in result.results}
    assert all(requests[name] < 10 for name in done if name != "phone_calls")
