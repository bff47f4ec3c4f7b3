"""Failures of the machine or the source: the data that is kept, the printed line, the exit code.

These are the rows of `docs/faults.md`, which name the tests.
"""

import re
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.killed_sync import processes, sync_until_killed
from support.lying_proxy import lying
from support.sandbox_settings import at

import sandbox
from pipelines.core.errors import WarehouseBusy, WarehouseError
from pipelines.endpoints import REGISTRY
from pipelines.jobs.sync import run_sync
from pipelines.loading.control.list_status import ListStatus
from pipelines.loading.control.snapshot import snapshot_path
from pipelines.loading.warehouse import Warehouse
from pipelines.settings import Settings

Opened = Callable[..., Any]
SMALL = {"practices": 1, "calls": 60, "days": 6}


def reasons(result: Any) -> dict[str, str]:
    return {item.endpoint: item.reason for item in result.results}


def test_a_killed_sync_resumes_and_certified_windows_are_not_read_again(opened: Opened, tmp_path: Path) -> None:
    practices = opened(practices=1, calls=1500, days=150)
    snapshot = snapshot_path(practices.warehouse)

    def some_window_is_certified() -> bool:
        return snapshot.exists() and '"covered"' in snapshot.read_text("utf-8")

    killed = sync_until_killed(practices.settings, tmp_path / "ended", 0.0, after=some_window_is_certified)
    before = {item.endpoint: item for item in status(practices.warehouse)}

    result = practices.sync()

    assert killed
    done = [name for name, item in before.items() if (item.cursor or {}).get("covered")]
    assert done
    assert practices.differences() == []
    requests = {item.endpoint: item.requests for item in result.results}
    assert all(requests[name] < 10 for name in done if name != "phone_calls")


def status(warehouse: Path) -> list[ListStatus]:
    with Warehouse.open(warehouse, REGISTRY, lock_wait_seconds=5) as opened_again:
        return opened_again.status()


def sync_on_a_full_disk(settings: Settings, report: Path) -> None:
    """Run in a process of its own in which no file may grow beyond 1 MiB, as on a full disk."""
    import signal  # noqa: PLC0415 - in the child process itself

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    try:
        run_sync(settings, practices=None, endpoints=None, since=None, progress=lambda _: None)
    except WarehouseError as error:
        report.write_text(str(error), "utf-8")


def test_a_full_disk_is_one_line_and_nothing_is_lost(opened: Opened, tmp_path: Path) -> None:
    practices = opened(practices=1, calls=6_000, days=20)
    report = tmp_path / "told"
    process = processes.Process(target=sync_on_a_full_disk, args=(practices.settings, report))
    process.start()
    process.join(60)

    line = report.read_text("utf-8")
    assert str(practices.warehouse) in line
    assert "make room and run it again" in line
    assert "\n" not in line
    practices.sync(endpoints=["booking_sessions", "staff_tasks"])
    differences = [line for line in practices.differences() if "booking_sessions" in line or "staff_tasks" in line]
    assert differences == []


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


def test_of_two_syncs_at_once_the_second_leaves_with_one_line(opened: Opened) -> None:
    practices = opened(**SMALL)
    with (
        Warehouse.open(practices.warehouse, REGISTRY, lock_wait_seconds=0),
        pytest.raises(WarehouseBusy, match="holds it, after 0 seconds of waiting") as caught,
    ):
        practices.sync()

    assert caught.value.exit_code == 1
    assert "\n" not in str(caught.value)


def test_a_corrupt_warehouse_is_one_line_and_left_as_it_is(opened: Opened) -> None:
    practices = opened(**SMALL)
    practices.warehouse.write_bytes(b"this is no database" * 1000)
    before = practices.warehouse.read_bytes()

    with pytest.raises(WarehouseError, match=r"cannot be opened: .+") as caught:
        practices.sync()

    assert caught.value.exit_code == 1
    assert practices.warehouse.read_bytes() == before


def test_a_refused_practice_does_not_stop_another(opened: Opened) -> None:
    practices = opened(practices=1, calls=60, days=6)
    practice = practices.settings.practices[0]
    practices.settings = practices.settings.model_copy(
        update={"practices": (replace(practice, id="loc-999"), practice)}
    )

    result = practices.sync(endpoints=["staff_tasks", "phone_calls"])

    assert result.exit_code == 1
    assert {(item.practice_id, item.state) for item in result.results} == {
        ("loc-999", "failed"),
        (practice.id, "certified"),
    }


def test_withdrawn_appointments_keep_their_data_and_fail_nothing(opened: Opened) -> None:
    practices = opened(**SMALL)
    practices.sync()
    practices.platform.set(appointments_withdrawn=410)

    result = practices.sync()

    (item,) = [item for item in result.results if item.endpoint == "appointments"]
    assert (result.exit_code, item.state) == (0, "withdrawn")
    assert item.rows > 0
    assert "its data is kept" in item.reason


@pytest.mark.parametrize("lie", [3, -3])
def test_totals_that_lie_end_uncertified_and_say_so(opened: Opened, lie: int) -> None:
    practices = opened(**SMALL)

    def change(path: str, page: dict[str, Any]) -> None:
        if "staff_tasks" in path:
            page["total_count"] = max(0, page["total_count"] + lie)

    with lying(practices.platform.base_url, change) as base_url:
        practices.settings = at(practices.settings, base_url)
        result = practices.sync()

    assert result.exit_code == 3
    assert {item.endpoint for item in result.results if item.state != "certified"} == {"staff_tasks"}
    assert "rows, but its own total of" in reasons(result)["staff_tasks"]
    assert practices.differences() == []


def test_clients_that_always_fail_are_counted_and_all_others_are_stored(opened: Opened) -> None:
    practices = opened(**SMALL)
    failing: set[str] = set()

    def instead(path: str, _authorization: str) -> tuple[int, dict[str, Any]] | None:
        if "/clients/" in path and len(failing) < 2:
            failing.add(path)
        return (500, {"success": False, "message": "boom"}) if path in failing else None

    with lying(practices.platform.base_url, instead=instead) as base_url:
        practices.settings = at(practices.settings, base_url)
        result = practices.sync()

    assert {item.endpoint for item in result.results if item.state != "certified"} == {"clients"}
    assert "2 of" in reasons(result)["clients"]
    assert "the others are stored" in reasons(result)["clients"]
    assert len(practices.differences()) == 2


def test_every_row_of_the_table_names_a_test_that_is_there() -> None:
    here = Path(__file__).parent
    text = (here / "../../docs/faults.md").read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    for row in rows:
        message, exit_code, tests = (cell.strip() for cell in row.strip().strip("|").split("|")[-3:])
        assert exit_code in ("", "0", "1", "2", "3"), row
        assert (exit_code in ("1", "2", "3")) <= bool(message), f"an exit without a line: {row}"
        named = re.findall(r"`([\w/]+(?:\.py|/))(?:::(\w+))?`", tests)
        assert named, f"no test: {row}"
        for file, test in named:
            path = here / file if "/" not in file else here / "../.." / file
            assert path.exists(), (file, test)
            assert not test or f"def {test}(" in path.read_text("utf-8"), (file, test)
