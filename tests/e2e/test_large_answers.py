"""A whole sync stays within its memory although every page of the platform is as large as it may be."""

import csv
import io
from pathlib import Path
from typing import Any

from support.killed_sync import processes
from support.lying_proxy import lying
from support.sandbox_settings import at, synced
from vetl.partner.protocol import LARGEST_CSV, LARGEST_JSON
from vetl.settings import Settings
from vetl.store.frames import LONG_ROW

MOST = 1024
"""MiB of a process that syncs, as docs/security.md says."""
PRACTICES = 3
LISTS = ("phone_calls", "appointments", "staff_tasks")


def padded(path: str, page: dict[str, Any]) -> None:
    """Give each row an undeclared field, so that the page, or the row of a task, is as large as it may be."""
    rows = page["content"]
    most = LONG_ROW if "staff_tasks" in path else LARGEST_JSON // max(1, len(rows))
    for row in rows:
        row["notes"] = "x" * (most - 2_000)


def padded_csv(text: str) -> str:
    """Give each call a long summary, so that the page is as large as it may be."""
    head, *rows = csv.reader(io.StringIO(text))
    for row in rows:
        row[head.index("Summary")] = "y" * (LARGEST_CSV // len(rows) - 1_000)
    out = io.StringIO()
    csv.writer(out).writerows([head, *rows])
    return out.getvalue()


def sync_and_measure(settings: Settings, report: Path) -> None:
    """Sync in a process of its own; write the state of each list and the most memory of the process in KiB."""
    result = synced(settings, endpoints=LISTS)
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    most = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
    report.write_text(" ".join([most, *(item.state for item in result.results)]), "utf-8")


def test_a_sync_of_the_largest_pages_stays_within_its_memory(opened: Any, tmp_path: Path) -> None:
    practices = opened(practices=PRACTICES, days=2, calls=30)
    report = tmp_path / "report"

    with lying(practices.platform.base_url, padded, rewritten=padded_csv) as base_url:
        process = processes.Process(target=sync_and_measure, args=(at(practices.settings, base_url), report))
        process.start()
        process.join(120)
        process.kill()

    most, *states = report.read_text("utf-8").split()
    assert states == ["certified"] * len(LISTS) * PRACTICES
    assert int(most) < MOST * 1024
