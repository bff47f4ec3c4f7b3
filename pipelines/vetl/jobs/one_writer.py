"""The lock of a command that writes the warehouse (`loading/writer_lock.py`)."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from vetl.core.errors import WarehouseError
from vetl.loading import writer_lock
from vetl.settings import Settings


def restore_mark(warehouse: Path) -> Path:
    """Return the path of the file that is there from the first to the last file that a restore replaces."""
    return warehouse.with_name(f"{warehouse.name}.restoring")


def unfinished_restore(warehouse: Path) -> str | None:
    """Return the line about a restore that did not end; `None` if there is none."""
    mark = restore_mark(warehouse)
    if not mark.exists():
        return None
    return f"{warehouse}: `vetl restore` did not end: run it again with the folder that {mark} names"


@contextmanager
def writing(
    settings: Settings, seconds: float | None = None, *, shared: bool = False, restoring: bool = False
) -> Generator[None]:
    """Hold the lock of the warehouse; wait for it for at most `seconds`, by default `lock_wait_seconds`.

    Raises:
        WarehouseBusy: another process still holds the lock.
        WarehouseError: the file of the lock cannot be created, or a restore did not end.
    """
    warehouse = settings.warehouse
    patience = warehouse.lock_wait_seconds if seconds is None else seconds
    with writer_lock.writing(warehouse.path, lock_wait_seconds=patience, shared=shared):
        if not restoring and (unfinished := unfinished_restore(warehouse.path)):
            raise WarehouseError(unfinished)
        yield
