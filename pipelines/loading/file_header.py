"""Whether a file is a whole DuckDB database, by its first bytes and its size: another process may hold it."""

import struct
from pathlib import Path

_MAGIC, _MAGIC_AT = b"DUCK", 8
_HEADER = 4_096
"""Bytes of each of three headers: the file's own, and two of the database, of which the later one counts."""

_DATABASE_HEADER = struct.Struct("<QQQQQQ")
"""Checksum, iteration, first block of the catalog, of the free list, blocks, bytes of a block."""

_BLOCK = (1 << 56) - 1
"""A pointer's bits that name the block; those above say where in it."""

_NONE = (1 << 64) - 1


def what_is_wrong(path: Path) -> str | None:
    """Why the file cannot be a whole database; `None` where it looks like one.

    DuckDB cuts free blocks off the end before it counts them no more, so fewer blocks than counted are no fault;
    a part of one, or none where the catalog begins, is.

    Raises:
        OSError: it cannot be read.
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
