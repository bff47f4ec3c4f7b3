"""`python -m benchmarks.marts`: the marts over 10 million calls, built and published, then after small syncs."""

import argparse
import json
import resource
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from vetl import bundled
from vetl.jobs.build import Begun, options_of
from vetl.jobs.dbt_process import dbt_build, fingerprint, state_folder
from vetl.publishing.descriptions import personal_columns
from vetl.publishing.publication import publish
from vetl.settings.core_sections import PrivacySettings
from vetl.store.connection import attach
from vetl.store.control import builds

from benchmarks.marts_world import CLOCK, PRACTICES, make, small_sync

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Timed:
    """One build in a process of its own; `models` are seconds by model and test, the longest first.

    `published`: CPU seconds of publishing afterwards.
    """

    wall: float
    cpu: float
    published: float
    peak_mib: float
    models: list[tuple[str, float]]


def main() -> None:
    """Make the warehouse, build it in full, sync a little, build as `vetl run` does; print the cost of each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.marts")
    parser.add_argument("--calls", type=int, default=10_000_000, help="a multiple of 1,000")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "vetl.duckdb"
        make(path, options.calls)
        print(f"{options.calls:,} calls, {len(PRACTICES)} practices: {path.stat().st_size / 2**20:,.0f} MiB")
        full = _timed("in full", path, all_tests=True)
        small_sync(path, CLOCK + timedelta(hours=2))
        little = _timed("after a small sync", path)
        small_sync(path, CLOCK + timedelta(hours=4))
        again = _timed("after another", path)
        nothing = _timed("after none", path)
    for name, one in (("a small sync", little), ("another", again), ("none", nothing)):
        print(
            f"after {name} / in full: CPU {one.cpu / full.cpu:.3f}, wall {one.wall / full.wall:.3f},"
            f" publishing {one.published / full.published:.3f}"
        )


def _timed(label: str, path: Path, *, all_tests: bool = False) -> Timed:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    made_with = fingerprint(path, {})
    with closing(attach(path, lock_wait_seconds=0)) as connection:
        begun = Begun(made_with, *builds.begin(connection, made_with, full_refresh=False))
    result = dbt_build(path, advance=lambda _done, _total: None, extra=options_of(begun, all_tests=all_tests))
    builds.finish(path, made_with, is_full=begun.is_full, lock_wait_seconds=0)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.failures:
        raise RuntimeError(f"the build failed: {result.failures}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    run = json.loads((state_folder(path) / "target" / "run_results.json").read_text("utf-8"))
    nodes = ((".".join(node["unique_id"].split(".")[:3:2]), node["execution_time"]) for node in run["results"])
    published = _publish(path)
    timed = Timed(wall, cpu, published, after.ru_maxrss / 1024, sorted(nodes, key=lambda node: -node[1]))
    # The peak is that of the largest build so far: the first build, in full.
    print(
        f"\n{label}: {wall:.1f} s wall, {cpu:.1f} s CPU, at most {timed.peak_mib:,.0f} MiB;"
        f" published with {published:.1f} s CPU"
    )
    for name, seconds in timed.models[:_SHOWN]:
        print(f"{seconds:8.2f} s  {name}")
    return timed


def _publish(path: Path) -> float:
    started, project = time.process_time(), bundled.dbt_project()
    pii = PrivacySettings().treatments(personal_columns(project))
    publish(path, path.with_name("analytics.duckdb"), pii=pii, pii_key=None)
    return time.process_time() - started


if __name__ == "__main__":
    main()
