"""One writer: what needs the warehouse waits for it, as the commands do, and says so.

A pool queues the steps of Dagster's runs, but not a `vetl run` from a shell or from cron.
"""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from pipelines.core.errors import WarehouseBusy
from pipelines.core.text import span
from pipelines.jobs.build import wait_for_writer
from pipelines.settings import Settings

Result = TypeVar("Result")
Say = Callable[[str], None]


def wait_aloud(
    settings: Settings, say: Say, seconds: float | None = None, practices: Sequence[str] | None = None
) -> None:
    """Return once nobody else holds the warehouse, or the shards of these practices, or where there is none yet.

    Raises:
        WarehouseBusy: it is still held after `seconds`, by default `lock_wait_seconds`.
    """
    patience = settings.warehouse.lock_wait_seconds if seconds is None else seconds
    try:
        wait_for_writer(settings, 0, practices)
    except WarehouseBusy as error:
        say(f"Waiting for {error.holder}, up to {span(patience)}")
        wait_for_writer(settings, patience, practices)


def patiently(settings: Settings, say: Say, act: Callable[[], Result]) -> Result:
    """Do it as soon as nobody else holds the warehouse, again where somebody was quicker.

    Raises:
        WarehouseBusy: it is still held after `lock_wait_seconds`.
    """
    deadline = time.monotonic() + settings.warehouse.lock_wait_seconds
    while True:
        wait_aloud(settings, say, max(0.0, deadline - time.monotonic()))
        try:
            return act()
        except WarehouseBusy:
            if time.monotonic() >= deadline:
                raise
