"""Check that a file is a whole DuckDB database by its headers and size, without opening it."""

import struct
from pathlib import Path

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
