"""A total of 10^9 or 10^12 costs a bounded amount of memory and a bounded number of requests, on any list."""

import json
import resource
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support.killed_sync import processes
from support.sandbox_settings import synced
from vetl.jobs import platform as jobs_client
from vetl.partner.limits import RetryPolicy
from vetl.settings import Settings

ROOM = 1024 * 2**20
"""Bytes of address space beside those of a sync of an honest list: threads of DuckDB and polars reserve some."""
LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")


def sync_within(room: int, settings: Settings, report: Path) -> None:
    """Sync in a process of its own; write the result of each list as JSON."""
    jobs_client.RetryPolicy = partial(RetryPolicy, first_wait=0.001)  # pyright: ignore[reportAttributeAccessIssue] - in a process of its own

    synced(settings, endpoints=["clients"])
    size = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))
    result = synced(settings, endpoints=LISTS)
    lists = {one.endpoint: [one.state, one.reason, one.requests] for one in result.results}
    report.write_text(json.dumps([result.exit_code, lists]), "utf-8")


@pytest.mark.parametrize("total", [10**9, 10**15])
def test_lists_with_false_totals_end_uncertified_each_in_one_line(opened: Any, tmp_path: Path, total: int) -> None:
    practices = opened(practices=1, days=20, calls=300)
    practices.platform.set(**{name: {"told_total": total} for name in LISTS})
    report = tmp_path / "told"

    process = processes.Process(target=sync_within, args=(ROOM, practices.settings, report))
    process.start()
    process.join(120)
    process.kill()

    assert process.exitcode == 0
    exit_code, lists = json.loads(report.read_text("utf-8"))
    assert exit_code == 3
    assert set(lists) == set(LISTS)
    for name, (state, reason, requests) in lists.items():
        assert state == "uncertified", name
        assert str(total) in reason
        assert "\n" not in reason
        assert requests < 200, name
    assert practices.differences(LISTS) == []
