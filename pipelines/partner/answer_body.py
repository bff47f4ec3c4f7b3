"""The body of an answer, unfolded piece by piece and bounded while it is unfolded.

A few kilobytes of gzip unfold to gigabytes, so that no size may be looked at only afterwards: 5,012 bytes of gzip
in gzip took over 9 GB, and one gzip of 65 KB took 3.3 GB with twelve practices.
"""

import zlib
from asyncio import Lock
from collections.abc import AsyncIterable, Iterator
from contextlib import AsyncExitStack
from io import BytesIO

from pipelines.core.errors import TornAnswer
from pipelines.partner.headers import Headers

SMALL = 4 * 1024 * 1024
"""Bytes. So much of every answer may be in memory; of larger answers, one at a time is read on. With 32
requests under way, all bodies together stay below 192 MiB. A page of 5,000 calls has 1.3 MB."""

_PIECE = 256 * 1024
"""Bytes that are unfolded at once: as much as is read at once."""

_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": zlib.MAX_WBITS}
"""By content coding, as zlib wants it."""


async def read_body(
    chunks: AsyncIterable[bytes], headers: Headers, *, largest: int, large: Lock, asked: str
) -> bytes:
    """Read a body to its end. `large` is shared by all answers that are under way.

    Raises:
        TornAnswer: it is larger than `largest`, ends too early, or has a coding that is not asked for.
    """
    unfolding = _unfolding(headers, asked)
    # At an error the body is closed, and so freed: whoever keeps the error keeps this frame.
    with BytesIO() as body:
        async with AsyncExitStack() as turns:
            async for chunk in chunks:
                for piece in unfolding.pieces(chunk):
                    size = body.tell() + len(piece)
                    if size > largest:
                        raise TornAnswer(f"{asked}: the answer is larger than {largest // 2**20} MiB")
                    if size > SMALL >= body.tell():
                        await turns.enter_async_context(large)
                    body.write(piece)
            if not unfolding.is_whole:
                raise TornAnswer(f"{asked}: the connection broke or the body was cut off")
            return body.getvalue()


class _Plain:
    """A body without a content coding. httpx raises an error if such a body is cut off."""

    is_whole = True

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk


class _Compressed:
    """A body in gzip or deflate. What follows the end of the compressed data is ignored."""

    def __init__(self, coding: str, asked: str) -> None:
        self._asked = asked
        self._unfolder = zlib.decompressobj(_WINDOW_BITS[coding])
        self._may_be_raw = coding == "deflate"
        self._has_begun = False

    @property
    def is_whole(self) -> bool:
        """Whether the compressed data has ended; nothing at all is whole as well, as after a deletion."""
        return self._unfolder.eof or not self._has_begun

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        rest, is_full = chunk, False
        while (rest or is_full) and not self._unfolder.eof:
            piece = self._unfolded(rest)
            rest, is_full = self._unfolder.unconsumed_tail, len(piece) == _PIECE  # zlib may hold more of it
            yield piece

    def _unfolded(self, data: bytes) -> bytes:
        is_first, self._has_begun = not self._has_begun, True
        try:
            return self._unfolder.decompress(data, _PIECE)
        except zlib.error:
            if not (is_first and self._may_be_raw):
                raise TornAnswer(f"{self._asked}: the body cannot be decompressed") from None
        # Some servers send deflate without the zlib head that RFC 9110 wants.
        self._unfolder = zlib.decompressobj(-zlib.MAX_WBITS)
        return self._unfolded(data)


def _unfolding(headers: Headers, asked: str) -> _Plain | _Compressed:
    """Raise TornAnswer if a body has several codings, or one that vetl does not ask for."""
    names = [name.strip().lower() for name in headers.get("content-encoding", "").split(",")]
    codings = [name for name in names if name not in ("", "identity")]
    if not codings:
        return _Plain()
    if len(codings) > 1:
        raise TornAnswer(f"{asked}: the answer is compressed {len(codings)} times, at most once is taken")
    if codings[0] not in _WINDOW_BITS:
        raise TornAnswer(f"{asked}: the answer has a content coding that was not asked for; gzip is")
    return _Compressed(codings[0], asked)
