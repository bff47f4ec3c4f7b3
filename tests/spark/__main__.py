"""`make spark`: the models built by Spark and by DuckDB over the same tables, compared value by value.

The warehouses are those on the command line (private files, which are only read), by default that of
`support.story`: three practices, a group, a change of the clock, earlier versions and deletions.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic import SecretStr
from spark.on_spark import build
from spark.tables import compared, published_alike
from support.story import play
from vetl.endpoints import REGISTRY
from vetl.jobs.build import building, publish_marts
from vetl.jobs.dbt_process import last_of
from vetl.jobs.logs import configure_logs
from vetl.settings import settings_class
from vetl.settings.core_sections import WarehouseSettings
from vetl.store.warehouse import Warehouse

_KEY = SecretStr("4f0c1d2e3b5a69788796a5b4c3d2e1f0")


def main() -> int:
    """Compare, and print a line for each table; return 1 if anything failed or differs."""
    parser = argparse.ArgumentParser(prog="python -m spark")
    parser.add_argument("warehouses", nargs="*", type=Path, help="private warehouse files")
    parser.add_argument("--python", type=Path, required=True, help="an interpreter with tools/spark.lock")
    parser.add_argument("--master", default="local[2]", help="as Spark spells it")
    parser.add_argument("--folder", type=Path, default=Path("build/spark"), help="what is made stays in here")
    options = parser.parse_args()
    configure_logs(0)
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    warehouses = [path.absolute() for path in options.warehouses] or [_story(folder / "story")]
    return max(
        _compare(path, options.python.absolute(), folder / f"{number}-{path.stem}", options.master)
        for number, path in enumerate(warehouses, 1)
    )


def _story(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return play(folder)[0]


def _compare(warehouse: Path, python: Path, folder: Path, master: str) -> int:
    """Build and publish a copy of the warehouse on both engines."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    copy = Path(shutil.copy(warehouse, folder))
    with Warehouse.open(copy, REGISTRY, lock_wait_seconds=0):
        pass  # a warehouse of an earlier version is migrated
    settings = settings_class()(
        warehouse=WarehouseSettings(path=copy, published=folder / "analytics.duckdb", pii_key=_KEY)
    )
    here = last_of(building(settings, full_refresh=True))
    publish_marts(settings.warehouse, settings.privacy)
    there = build(settings, python, folder / "spark", master)
    _say(f"dbt build on Spark: {there.result.succeeded} succeeded in {there.result.seconds:.0f} s")
    failures = [*here.failures, *there.result.failures]
    unlike = list(_unequal(copy, there.tables))
    if not there.result.failures:
        unlike += published_alike(settings.warehouse.published, there.published)
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
