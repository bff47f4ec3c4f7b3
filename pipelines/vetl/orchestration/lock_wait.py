"""Wait for the lock of the warehouse, as the commands do, and log the wait.

A pool queues the steps of Dagster's runs, but not a `vetl run` from a shell or from cron.
"""

import time
from collections.abc import Callable
from typing import TypeVar

from vetl.core.errors import WarehouseBusy
from vetl.core.text import span
from vetl.jobs.build import wait_for_writer
from vetl.settings import Settings

Result = TypeVar("Result")
Log = Callable[[str], None]


def wait_for_lock(settings: Settings, log: Log, seconds: float | None = None) -> None:
    """Return once no other process holds the warehouse. Log the wait."""
    limit = settings.warehouse.lock_wait_seconds if seconds is None else seconds
    try:
        wait_for_writer(settings, 0)
    except WarehouseBusy as error:
        log(f"Waiting for {error.holder}, up to {span(limit)}")
        wait_for_writer(settings, limit)


def retry_while_locked(settings: Settings, log: Log, act: Callable[[], Result]) -> Result:
    """Call `act` once no other process holds the warehouse; try again if another process was quicker."""
    deadline = time.monotonic() + settings.warehouse.lock_wait_seconds
    while True:
        wait_for_lock(settings, log, max(0.0, deadline - time.monotonic()))
        try:
            return act()
        except WarehouseBusy:
            if time.monotonic() >= deadline:
                raise
