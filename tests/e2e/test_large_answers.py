"""A whole sync stays within its memory, whatever comes: the largest pages, garbage, bytes without an end."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from support.forked import memory, start
from support.lying_proxy import lying
from support.sandbox_settings import at, synced
from vetl.endpoints import REGISTRY
from vetl.partner.protocol import LARGEST_CSV, LARGEST_JSON
from vetl.settings import Settings
from vetl.store.frames import LONG_ROW

from benchmarks import hostile

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


def sync_and_measure(settings: Settings, lists: tuple[str, ...] | None, report: Path) -> None:
    """Sync in a process of its own; write its most memory in MiB, and how each list of each practice ended."""
    result = synced(settings, endpoints=lists)
    ends = [(item.practice_id, item.endpoint, item.state, item.reason) for item in result.results]
    report.write_text(json.dumps([memory("VmHWM"), ends]), "utf-8")


def ends_within_memory(settings: Settings, lists: tuple[str, ...] | None, report: Path) -> list[list[str]]:
    process = start(sync_and_measure, settings, lists, report)
    process.join(120)
    process.kill()
    most, ends = json.loads(report.read_text("utf-8"))
    assert most < MOST
    return ends


def test_a_sync_of_the_largest_pages_stays_within_its_memory(opened: Any, tmp_path: Path) -> None:
    practices = opened(practices=PRACTICES, days=2, calls=30)

    with lying(practices.platform.base_url, padded, rewritten=padded_csv) as base_url:
        ends = ends_within_memory(at(practices.settings, base_url), LISTS, tmp_path / "report")

    assert [state for *_, state, _ in ends] == ["certified"] * len(LISTS) * PRACTICES


FAILED = {
    "phone_calls": "the answer is larger than 8 MiB",
    "appointments": "the answer is larger than 8 MiB",
    "staff_tasks": "the answer has more than 500000 values",
    "ai_outbound": "no answer in time (ReadTimeout)",
}


def test_garbage_a_gigabyte_or_nothing_for_ever_costs_its_list_a_line_and_no_other(tmp_path: Path) -> None:
    """A total of 10^15, of which no row comes, costs its list the certificate."""
    with hostile.served() as base_url:
        settings = hostile.settings_for(base_url, tmp_path, PRACTICES, timeout_seconds=1)
        ends = ends_within_memory(settings, None, tmp_path / "report")

    assert len(ends) == PRACTICES * len(REGISTRY)
    for practice, name, state, reason in ends:
        assert "\n" not in reason
        if name in FAILED:
            assert (state, FAILED[name] in reason) == ("failed", True), reason
        elif (practice, name) == (hostile.LIAR, "booking_sessions"):
            assert (state, f"{10**15} promises some" in reason) == ("uncertified", True)
        else:
            assert state == "certified", (practice, name, reason)
