"""`make growth`: what a sync, a build and a publication cost by the size of the warehouse and by what changed.

Ten practices have so many calls; in each hour that follows, the first of them gets 0, 1 or 1,000 more. Every step
is the one of `vetl run`, in a fresh interpreter.
"""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx
from vetl.jobs.build import is_built
from vetl.run import Event, Events, built, published
from vetl.settings import Settings

from benchmarks import first_sync
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
    """Read the calls of all practices."""
    first_sync.run(base_url, "phone_calls", first_day(calls), folder, PRACTICES)


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
    return first_sync.settings_for(base_url, first_day(calls), folder, PRACTICES)


if __name__ == "__main__":
    main()
