"""`python -m benchmarks.many_practices`: the first sync of many small practices, then two ticks without changes.

The sandbox serves them in a process of its own, whose CPU is not counted. Every sync is the path of `vetl sync`,
from settings to committed rows, in a fresh interpreter; each round begins with an empty warehouse.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from pydantic import SecretStr
from vetl.cli.sandbox import Platform, sandbox_process
from vetl.core.list_read import Practice
from vetl.jobs.sync import run_sync
from vetl.settings import Settings
from vetl.settings.core_sections import PartnerSettings, WarehouseSettings

from benchmarks.measured import Cost, measured

FIVE_LISTS = ("phone_calls", "booking_sessions", "appointments", "ai_outbound", "staff_tasks")
SYNCS = ("first sync", "a tick without news", "the next tick")
"""The first tick compares the ids of the first sync on a second read (decision 29)."""


def main() -> None:
    """Serve the practices, sync them three times a round, print the cost of each sync."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.many_practices")
    parser.add_argument("--practices", type=int, default=500)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--all", action="store_true", help="clients and patients too, which are got by id")
    options = parser.parse_args()
    lists = None if options.all else FIVE_LISTS
    costs: list[list[Cost]] = []
    with sandbox_process(practices=options.practices, days=options.days) as platform:
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as folder:
                order = (platform, options.days, lists, Path(folder))
                costs.append([measured(sync, *order) for _ in SYNCS])
    for label, runs in zip(SYNCS, zip(*costs, strict=True), strict=True):
        print(_line(label, runs))


def sync(platform: Platform, days: int, lists: Sequence[str] | None, folder: Path) -> None:
    """Run one sync of all practices of the platform into the warehouse of this folder."""
    start = platform.clock.date() - timedelta(days=days)
    settings = Settings(
        partner=PartnerSettings(
            base_url=platform.base_url,
            username=SecretStr(platform.username),
            password=SecretStr(platform.password),
            role=platform.role,
        ),
        warehouse=WarehouseSettings(path=folder / "vetl.duckdb"),
        practices=tuple(Practice(one["id"], one["name"], one["time_zone"], start) for one in platform.practices),
    )
    result = run_sync(settings, practices=None, endpoints=lists, since=None, progress=lambda _: None)
    if result.exit_code:
        raise RuntimeError(f"the sync is not certified: {result}")
    print(f"{sum(one.requests for one in result.results):,} requests")


def _line(label: str, runs: Sequence[Cost]) -> str:
    wall, cpu = [one.wall for one in runs], [one.cpu for one in runs]
    return (
        f"{label:24}{statistics.median(wall):8.1f} s wall{statistics.median(cpu):8.1f} s CPU"
        f" ({min(cpu):.1f} to {max(cpu):.1f}){max(one.peak_mib for one in runs):8.0f} MiB"
    )


if __name__ == "__main__":
    main()
