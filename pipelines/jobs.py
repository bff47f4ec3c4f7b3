"""What the commands and the Dagster assets do, apart from how either shows it."""

import time
from collections.abc import Callable
from pathlib import Path

from pipelines import bundled
from pipelines.dbt_process import Advance, BuildResult, dbt_build
from pipelines.endpoints import REGISTRY
from pipelines.errors import WarehouseBusy, WarehouseError
from pipelines.loading.publish import Published
from pipelines.loading.publish import publish as publish_file
from pipelines.loading.warehouse import Warehouse
from pipelines.marts import grains, pii_columns
from pipelines.settings import Settings


def build(
    settings: Settings,
    *,
    full_refresh: bool = False,
    advance: Advance = lambda _done, _total: None,
    now: Callable[[], float] = time.monotonic,
) -> BuildResult:
    """Build the marts over what is committed. Waits for another writer as long as `lock_wait_seconds`.

    Raises:
        BuildFailed: dbt could not start to build; a failing node is in the result instead.
        WarehouseBusy: another process still holds the file.
        WarehouseError: there is no warehouse yet, or it cannot be opened.
    """
    path = existing(settings.warehouse.path)
    deadline = now() + settings.warehouse.lock_wait_seconds
    while True:
        wait_for_writer(path, max(0.0, deadline - now()))
        try:
            return dbt_build(path, full_refresh=full_refresh, advance=advance)
        except WarehouseBusy:
            # Someone was quicker between our look and dbt's start.
            if now() >= deadline:
                raise


def publish(settings: Settings) -> Published:
    """Replace the published file by the marts as they are now.

    Raises:
        WarehouseError: there is no warehouse yet, or a file cannot be read or written; the old one stays.
    """
    key = settings.warehouse.pii_key
    return publish_file(
        existing(settings.warehouse.path),
        settings.warehouse.published,
        pii=pii_columns(bundled.dbt_project()),
        pii_key=key.get_secret_value() if key else None,
        grains=grains(bundled.dbt_project()),
    )


def wait_for_writer(path: Path, seconds: float) -> None:
    """Return once no other process holds the warehouse. Every raw table that dbt reads is there afterwards.

    Raises:
        WarehouseBusy: it is still held after that many seconds.
    """
    with Warehouse.open(path, REGISTRY, lock_wait_seconds=seconds):
        pass


def existing(warehouse: Path) -> Path:
    """The path of a warehouse that is there.

    Raises:
        WarehouseError: there is none.
    """
    if not warehouse.exists():
        raise WarehouseError(f"{warehouse}: there is no warehouse yet; run `vetl sync` first")
    return warehouse
