"""`make growth`: what a sync, a build and a publication cost by the size of the warehouse and by what changed.

Ten practices have so many calls; in each hour that follows, the first of them gets 0, 1 or 1,000 more. Every step
is the one of `vetl run`, in a fresh interpreter.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
from pydantic import SecretStr
from vetl.core.list_read import Practice
from vetl.jobs.build import is_built
from vetl.jobs.sync import run_sync
from vetl.run import Event, Events, built, published
from vetl.settings import Settings
from vetl.settings.core_sections import PartnerSettings, PhoneCallsSettings, WarehouseSettings

from benchmarks.measured import Cost, measured
from benchmarks.ready_pages import first_day, served

PRACTICES = 10
CHANGES = (0, 1, 1000)


def main() -> None:
    """Print a line for each size and each number of changed rows."""
    parser = argparse.ArgumentParser(prog="make growth")
    parser.add_argument("--calls", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    options = parser.parse_args()
    print(f"{'calls':>12}{'changed':>9}" + "".join(f"{step + ' s, CPU s, MiB':>28}" for step in STEPS))
    for calls in options.calls:
        _grow(calls)


def _grow(calls: int) -> None:
    with served(calls // PRACTICES, 1) as base_url, tempfile.TemporaryDirectory() as folder:
        order = (base_url, calls // PRACTICES, Path(folder))
        _line(calls, "all", [measured(step, *order) for step in STEPS.values()])
        for changed in CHANGES:
            httpx.get(f"{base_url}/more?calls={changed}").raise_for_status()
            _line(calls, f"{changed:,}", [measured(step, *order) for step in STEPS.values()])


def _line(calls: int, changed: str, costs: Sequence[Cost]) -> None:
    shown = (f"{cost.wall:.1f}, {cost.cpu:.1f}, {cost.peak_mib:.0f}" for cost in costs)
    print(f"{calls:>12,}{changed:>9}" + "".join(f"{one:>28}" for one in shown), flush=True)


def sync(base_url: str, calls: int, folder: Path) -> None:
    """Read the calls of all practices, without the ids of the JSON list."""
    result = run_sync(
        _settings(base_url, calls, folder),
        practices=None,
        endpoints=["phone_calls"],
        since=None,
        progress=lambda _: None,
    )
    if result.exit_code:
        raise RuntimeError(f"the sync is not certified: {result}")


def build(base_url: str, calls: int, folder: Path) -> None:
    """Build the marts, unless nothing has changed."""
    settings = _settings(base_url, calls, folder)
    if not is_built(settings):
        _done(built(settings, all_tests=False))


def publish(base_url: str, calls: int, folder: Path) -> None:
    """Publish the marts."""
    _done(published(_settings(base_url, calls, folder)))


STEPS: dict[str, Callable[[str, int, Path], None]] = {"sync": sync, "build": build, "publish": publish}


def _done(events: Events) -> None:
    for event in events:
        if isinstance(event, Event) and event.exit_code:
            raise RuntimeError(f"{event.kind}: {event.result}")


def _settings(base_url: str, calls: int, folder: Path) -> Settings:
    start = first_day(calls)
    return Settings(
        partner=PartnerSettings(base_url=base_url, username=SecretStr("u"), password=SecretStr("p"), role="r"),
        warehouse=WarehouseSettings(path=folder / "vetl.duckdb", published=folder / "analytics.duckdb"),
        phone_calls=PhoneCallsSettings(details="off"),
        practices=tuple(
            Practice(f"loc-{number:03}", f"Harbor {number}", "UTC", start) for number in range(1, PRACTICES + 1)
        ),
    )


if __name__ == "__main__":
    main()
