"""The lock of a command that writes the warehouse (`loading/writer_lock.py`)."""

from contextlib import AbstractContextManager

from vetl.loading import writer_lock
from vetl.settings import Settings


def writing(
    settings: Settings, seconds: float | None = None, *, shared: bool = False
) -> AbstractContextManager[None]:
    """Hold the lock of the warehouse; wait for it for at most `seconds`, by default `lock_wait_seconds`.

    Raises:
        WarehouseBusy: another process still holds the lock.
        WarehouseError: the file of the lock cannot be created.
    """
    warehouse = settings.warehouse
    patience = warehouse.lock_wait_seconds if seconds is None else seconds
    return writer_lock.writing(warehouse.path, lock_wait_seconds=patience, shared=shared)
