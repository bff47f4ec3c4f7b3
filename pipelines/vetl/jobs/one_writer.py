"""The lock of a command that writes the warehouse (`store/writer_lock.py`), and the open warehouse behind it."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from secrets import token_hex

from vetl.core.errors import WarehouseError
from vetl.endpoints import REGISTRY
from vetl.settings import Settings
from vetl.store import writer_lock
from vetl.store.warehouse import Warehouse


@contextmanager
def writing(settings: Settings, seconds: float | None = None, *, restoring: bool = False) -> Generator[None]:
    """Hold the lock of the warehouse; wait for it for at most `seconds`, by default `lock_wait_seconds`."""
    warehouse = settings.warehouse
    patience = warehouse.lock_wait_seconds if seconds is None else seconds
    with writer_lock.writing(warehouse.path, lock_wait_seconds=patience):
        if not restoring and (unfinished := writer_lock.unfinished_restore(warehouse.path)):
            raise WarehouseError(unfinished)
        yield


@contextmanager
def opened(settings: Settings, seconds: float | None = None) -> Generator[Warehouse]:
    """Open the warehouse for writing, under its lock; wait for other writers as `writing` does."""
    warehouse = settings.warehouse
    patience = warehouse.lock_wait_seconds if seconds is None else seconds
    with (
        writing(settings, seconds),
        Warehouse.open(warehouse.path, REGISTRY, lock_wait_seconds=patience) as file,
    ):
        yield file


def existing(settings: Settings) -> None:
    """Check that there is a warehouse."""
    if not settings.warehouse.path.exists():
        raise WarehouseError(f"{settings.warehouse.path}: there is no warehouse yet; run `vetl sync` first")


def new_run_id(started: datetime) -> str:
    """Return the id of a run in `control.runs`."""
    return f"{started:%Y%m%dT%H%M%S}-{token_hex(4)}"
