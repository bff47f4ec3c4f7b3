"""`python -m benchmarks.marts`: the marts over 10 million calls, built and published, then after small syncs."""

import argparse
import json
import tempfile
from collections.abc import Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from pathlib import Path

from vetl import bundled
from vetl.jobs.dbt_process import dbt_build, fingerprint, options_of, state_folder
from vetl.publishing.descriptions import personal_columns
from vetl.publishing.publication import publish
from vetl.settings.core_sections import PrivacySettings
from vetl.store.connection import attach
from vetl.store.control import builds

from benchmarks.marts_world import CLOCK, make, small_sync
from benchmarks.measured import Cost, measured

_SHOWN = 12


def main() -> None:
    """Make the warehouse, build it in full, sync a little, build as `vetl run` does; print the cost of each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.marts")
    parser.add_argument("--calls", type=int, default=10_000_000, help="a multiple of 1,000")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "vetl.duckdb"
        measured(make, path, options.calls)
        _print("made", path, [])
        _print("in full", path, [measured(partial(build, all_tests=True), path), measured(publish_all, path)])
        for hours in (2, 4):
            small_sync(path, CLOCK + timedelta(hours=hours))
            _print("after an hour", path, [measured(build, path), measured(publish_all, path)])


def build(path: Path, *, all_tests: bool = False) -> None:
    """Build the marts, with dbt in a process of its own."""
    made_with = fingerprint(path, {})
    with closing(attach(path, lock_wait_seconds=0)) as connection:
        is_full, changed = builds.begin(connection, made_with, full_refresh=False)
    options = options_of(changed, is_full=is_full, all_tests=all_tests)
    result = dbt_build(path, advance=lambda _done, _total: None, extra=options)
    with closing(attach(path, lock_wait_seconds=0)) as connection:
        builds.finish(connection, made_with, is_full=is_full)
    if result.failures:
        raise RuntimeError(f"the build failed: {result.failures}")


def publish_all(path: Path) -> None:
    """Publish all marts."""
    pii = PrivacySettings().treatments(personal_columns(bundled.dbt_project()))
    publish(path, path.with_name("analytics.duckdb"), pii=pii, pii_key=None)


def _print(label: str, path: Path, costs: Sequence[Cost]) -> None:
    """Print the costs of a build and a publication, the sizes of the files, and the longest models."""
    files = (
        f"{file.name} {file.stat().st_size / 2**20:,.0f} MiB" for file in sorted(path.parent.glob("*.duckdb"))
    )
    print(f"\n{label}: {', '.join(files)}", flush=True)
    for step, cost in zip(("build", "publication"), costs, strict=False):
        print(
            f"{step:>12}: {cost.wall:.1f} s wall, {cost.cpu:.1f} s CPU, at most {cost.peak_mib:,.0f} MiB",
            flush=True,
        )
    if costs:
        run = json.loads((state_folder(path) / "target" / "run_results.json").read_text("utf-8"))
        for node in sorted(run["results"], key=lambda node: -node["execution_time"])[:_SHOWN]:
            print(f"{node['execution_time']:8.2f} s  {'.'.join(node['unique_id'].split('.')[:3:2])}", flush=True)


if __name__ == "__main__":
    main()
