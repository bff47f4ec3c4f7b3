"""A total of a milliard or a billiard costs neither the memory nor requests without an end, on any list."""

import multiprocessing
import resource
from pathlib import Path
from typing import Any

import pytest

from pipelines.partner import retrying
from pipelines.settings import Settings

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["pipelines.jobs.sync"])

ROOM = 1024 * 2**20
"""Bytes of address space beside what a sync of an honest list took: threads of DuckDB and polars reserve some."""
LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")


def sync_within(room: int, settings: Settings, name: str, told: Path) -> None:
    """In a process of its own: one list, and what came of it as exit code, state, requests and reason."""
    from pipelines.jobs.sync import run_sync  # noqa: PLC0415 - in the process itself

    retrying.FIRST_WAIT = 0.001

    def sync(endpoint: str) -> Any:
        return run_sync(settings, practices=None, endpoints=[endpoint], since=None, progress=lambda _: None)

    sync("clients")
    size = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))
    result = sync(name)
    (one,) = result.results
    told.write_text(f"{result.exit_code}\n{one.state}\n{one.requests}\n{one.reason}", "utf-8")


@pytest.mark.parametrize("total", [10**9, 10**15])
@pytest.mark.parametrize("name", LISTS)
def test_a_list_whose_total_lies_ends_uncertified_in_one_line(
    opened: Any, tmp_path: Path, name: str, total: int
) -> None:
    practices = opened(practices=1, days=20, calls=300)
    practices.platform.set(**{name: {"told_total": total}})
    told = tmp_path / "told"

    process = processes.Process(target=sync_within, args=(ROOM, practices.settings, name, told))
    process.start()
    process.join(120)
    process.kill()

    assert process.exitcode == 0
    exit_code, state, requests, *reason = told.read_text("utf-8").split("\n")
    assert (exit_code, state) == ("3", "uncertified")
    assert len(reason) == 1
    assert str(total) in reason[0]
    assert int(requests) < 250
    assert practices.differences([name]) == []
