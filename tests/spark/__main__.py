"""`make spark`: the models built by Spark and by DuckDB over the same tables, compared row by row, value by value.

Over the warehouses that are named (private files; they are read, not written), else over one of `support.plot`'s
stories: three practices, groups, webhooks, both changes of the clock, and a month of changes, deletions and values
that the interface does not list.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from spark.lake import export
from spark.on_spark import build
from spark.tables import compared
from support.plot import STORIES, tell

from pipelines.endpoints import REGISTRY
from pipelines.jobs.dbt_process import dbt_build
from pipelines.jobs.logs import configure_logs
from pipelines.loading.warehouse import Warehouse


def main() -> int:
    """Compare, and print a line for each table; 1 where anything failed or differs."""
    parser = argparse.ArgumentParser(prog="python -m spark")
    parser.add_argument("warehouses", nargs="*", type=Path, help="private warehouse files")
    parser.add_argument(
        "--python", type=Path, required=True, help="an interpreter with tests/spark/requirements.txt"
    )
    parser.add_argument("--folder", type=Path, default=Path("build/spark"), help="what is made stays in here")
    options = parser.parse_args()
    configure_logs(0)
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    warehouses = [path.absolute() for path in options.warehouses] or [_story(folder / "story")]
    return max(
        _compare(path, options.python.absolute(), folder / f"{number}-{path.stem}")
        for number, path in enumerate(warehouses, 1)
    )


def _story(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    name, plot = next(iter(STORIES.items()))
    _say(f"a month at {name}")
    tell(plot, folder)
    return folder / "vetl.duckdb"


def _compare(warehouse: Path, python: Path, folder: Path) -> int:
    """Build a copy of the warehouse on both engines."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = Path(shutil.copy(warehouse, folder))
    with Warehouse.open(copy, REGISTRY, lock_wait_seconds=0):
        pass  # one of an earlier version is brought up to date
    _say(f"{warehouse}: {export(copy, folder / 'lake')} tables")
    here = dbt_build(copy, full_refresh=True, advance=lambda _done, _total: None)
    started = time.monotonic()
    there = build(python, folder / "lake", folder / "spark")
    counts = ", ".join(f"{count} {status}" for status, count in sorted(there.statuses.items()))
    _say(f"dbt build on Spark: {counts or 'nothing'} in {time.monotonic() - started:.0f} s ({there.log})")
    failures = [
        *here.failures,
        *there.failures,
        *([] if there.exit_code == 0 else [f"exit code {there.exit_code}"]),
    ]
    unlike = list(_unequal(copy, there.tables))
    for failure in failures:
        _say(f"FAILED  {failure}")
    _say("every model is equal" if not unlike else f"{len(unlike)} models differ: {', '.join(unlike)}")
    return 1 if failures or unlike else 0


def _unequal(warehouse: Path, tables: Path) -> Iterator[str]:
    for table in compared(warehouse, tables):
        _say(str(table))
        if not table.is_equal:
            yield table.name


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
