"""Rewrite the private file: deleted and changed values leave their bytes in the blocks of the old file."""

from contextlib import closing
from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError, cannot_write
from vetl.store.connection import ROW_GROUP_SIZE, as_warehouse_error, drop_derived, literal
from vetl.store.drafts import draft_for
from vetl.store.sqlite_file import sync_to_disk

_NO_ROOM = ("Could not write", "No space left", "File too large", "heckpoint", "CHECKPOINT")
_REMEDY = "the disk is full or fails; make room for as much again as the file has"
"""DuckDB says of a full disk that a checkpoint during a detach failed."""


def rewrite(path: Path) -> None:
    """Copy raw, history and control into a new file and rename it into place, without the marts."""
    try:
        with draft_for(path) as draft, closing(duckdb.connect()) as connection:
            connection.execute(f"attach {literal(str(path))} as old")
            drop_derived(connection, "old")
            connection.execute(f"attach {literal(str(draft))} as new (row_group_size {ROW_GROUP_SIZE})")
            connection.execute("copy from database old to new")
            connection.execute("detach new")
            connection.execute("checkpoint old")  # no log of the old file may be left for the new one
            draft.chmod(path.stat().st_mode & 0o777)
            draft.replace(path)  # this process holds the old file, so no other process writes to it
        sync_to_disk(path.parent)
    except OSError as error:
        raise WarehouseError(cannot_write(path, error, "cannot be rewritten")) from None
    except duckdb.Error as error:
        if any(sign in str(error) for sign in _NO_ROOM):
            raise WarehouseError(f"{path}: cannot be rewritten: {_REMEDY}") from None
        raise as_warehouse_error(error, path, "cannot be rewritten") from None
