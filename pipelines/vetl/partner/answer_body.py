"""Read the body of an answer piece by piece, decompress it, and stop at a limit of bytes.

The size is checked while the body is decompressed, because a few kilobytes of gzip become gigabytes: 5,012 bytes
of gzip in gzip took over 9 GB, and one gzip of 65 KB took 3.3 GB with twelve practices.
"""

import zlib
from asyncio import Lock
from collections.abc import AsyncIterable, Callable, Iterator
from contextlib import AsyncExitStack
from io import BytesIO

from vetl.core.errors import TooLarge, TornAnswer
from vetl.partner.headers import Headers

SMALL = 4 * 1024 * 1024
"""Bytes of each answer that may be in memory. Only one larger answer at a time is read to its end. With 32
requests under way, all bodies together stay below 140 MiB. A page of 5,000 calls has 1.3 MB."""

_PIECE = 256 * 1024
"""Bytes that are decompressed at once, the same number as is read at once."""

_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": zlib.MAX_WBITS}
"""The argument of zlib for each content coding."""


async def read_body(
    chunks: AsyncIterable[bytes],
    headers: Headers,
    *,
    largest: int,
    take: Callable[[int], None],
    large: Lock,
    label: str,
) -> bytes:
    """Read a body to its end. All answers that are under way share the lock `large`; `take` counts the bytes.

    Raises:
        NoRoom: `take` has no room for it.
        TooLarge: it is larger than `largest`.
        TornAnswer: it ends too early, or has a content coding that vetl does not accept.
    """
    unfolding = _unfolding(headers, label)
    # Closing the body frees its memory after an error, whose traceback keeps this frame.
    with BytesIO() as body:
        async with AsyncExitStack() as turns:
            async for chunk in chunks:
                for piece in unfolding.pieces(chunk):
                    size = body.tell() + len(piece)
                    if size > largest:
                        raise TooLarge(f"{label}: the answer is larger than {largest // 2**20} MiB")
                    take(len(piece))
                    if size > SMALL >= body.tell():
                        await turns.enter_async_context(large)
                    body.write(piece)
            if not unfolding.is_whole:
                raise TornAnswer(f"{label}: the connection broke or the body was cut off")
            return body.getvalue()


class _Plain:
    """A body without a content coding. httpx raises an error if such a body is cut off."""

    is_whole = True

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk


class _Compressed:
    """A body in gzip or deflate. Bytes after the end of the compressed data are ignored."""

    def __init__(self, coding: str, label: str) -> None:
        self._label = label
        self._unfolder = zlib.decompressobj(_WINDOW_BITS[coding])
        self._may_be_raw = coding == "deflate"
        self._has_begun = False

    @property
    def is_whole(self) -> bool:
        """Return whether the compressed data has ended. An empty body is whole: a deletion has one."""
        return self._unfolder.eof or not self._has_begun

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        rest, is_full = chunk, False
        while (rest or is_full) and not self._unfolder.eof:
            piece = self._unfolded(rest)
            rest, is_full = self._unfolder.unconsumed_tail, len(piece) == _PIECE  # zlib may have more output
            yield piece

    def _unfolded(self, data: bytes) -> bytes:
        is_first, self._has_begun = not self._has_begun, True
        try:
            return self._unfolder.decompress(data, _PIECE)
        except zlib.error:
            if not (is_first and self._may_be_raw):
                raise TornAnswer(f"{self._label}: the body cannot be decompressed") from None
        # Some servers send deflate without the zlib header that RFC 9110 requires.
        self._unfolder = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._unfolded(data)


def _unfolding(headers: Headers, label: str) -> _Plain | _Compressed:
    """Return the decompressor of a body. Raise TornAnswer if it has several codings or an unknown one."""
    names = [name.strip().lower() for name in headers.get("content-encoding", "").split(",")]
    codings = [name for name in names if name not in ("", "identity")]
    if not codings:
        return _Plain()
    if len(codings) > 1:
        raise TornAnswer(f"{label}: the answer is compressed {len(codings)} times, at most once is taken")
    if codings[0] not in _WINDOW_BITS:
        raise TornAnswer(f"{label}: the answer has a content coding that was not requested; gzip is")
    return _Compressed(codings[0], label)
