"""A DuckDB file as bytes: whether it is whole, and a new file without the bytes of old values."""

import struct
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


_MAGIC, _MAGIC_AT = b"DUCK", 8
_HEADER = 4_096
"""Bytes of each of three headers: that of the file and two of the database, of which the later is valid."""

_DATABASE_HEADER = struct.Struct("<QQQQQQ")
"""Checksum, iteration, first block of the catalog, of the free list, blocks, bytes of a block."""

_BLOCK = (1 << 56) - 1
"""The bits of a pointer that hold the block; the bits above hold the position in it."""

_NONE = (1 << 64) - 1


def what_is_wrong(path: Path) -> str | None:
    """Return why the file cannot be a whole database; `None` if it looks like one.

    DuckDB cuts free blocks off the end before it updates its block count, so fewer blocks than counted are no
    fault. A partial block is one, and so is a missing block of the catalog.
    """
    with path.open("rb") as file:
        head = file.read(3 * _HEADER)
        size = file.seek(0, 2)
    if head[_MAGIC_AT : _MAGIC_AT + len(_MAGIC)] != _MAGIC:
        return "is no DuckDB database"
    if len(head) < 3 * _HEADER:
        return "is cut off"
    headers = [_DATABASE_HEADER.unpack_from(head, at) for at in (_HEADER, 2 * _HEADER)]
    _, _, catalog, free, blocks, block_bytes = max(headers, key=lambda header: header[1])
    needed = max([(pointer & _BLOCK) + 1 for pointer in (catalog, free) if pointer != _NONE], default=0)
    there, part = divmod(size - 3 * _HEADER, block_bytes or 1)
    return "is cut off" if there < needed or (part and there < blocks) else None
