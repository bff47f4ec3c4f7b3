"""Read the body of an answer piece by piece, decompress it, and stop at a limit of bytes.

The size is checked while the body is decompressed, because a few kilobytes of gzip become gigabytes.
"""

import zlib
from collections.abc import AsyncIterable, Iterator
from io import BytesIO

from vetl.core.errors import TooLarge, TornAnswer
from vetl.partner.headers import Headers

_PIECE = 256 * 1024
"""Bytes that are decompressed at once, the same number as is read at once."""

_WINDOW_BITS = {"gzip": 31, "x-gzip": 31, "deflate": zlib.MAX_WBITS}
"""The argument of zlib for each content coding."""

_FOREIGN = frozenset({"br", "zstd", "compress", "x-compress"})
"""Codings that were not requested. Any other name (`none`, `utf-8`) is no coding: such a body is plain."""


async def read_body(chunks: AsyncIterable[bytes], headers: Headers, *, largest: int, label: str) -> bytes:
    """Read a body to its end.

    Raises:
        TooLarge: it is larger than `largest`.
        TornAnswer: it ends too early, or has a content coding that vetl does not accept.
    """
    coding = _coding(headers, label)
    unfolding = _Compressed(coding, label) if coding else None
    body = BytesIO()
    async for chunk in chunks:
        for piece in unfolding.pieces(chunk) if unfolding else (chunk,):
            if body.write(piece) and body.tell() > largest:
                raise TooLarge(f"{label}: the answer is larger than {largest // 2**20} MiB")
    if unfolding and not unfolding.is_whole:
        raise TornAnswer(f"{label}: the connection broke or the body was cut off")
    return body.getvalue()  # httpx raises an error if a plain body is cut off


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


def _coding(headers: Headers, label: str) -> str | None:
    """Return the content coding of a body, `None` if it is plain.

    Raises:
        TornAnswer: it has several codings, or one that was not requested.
    """
    names = [name.strip().lower() for name in headers.get("content-encoding", "").split(",")]
    codings = [name for name in names if name in _WINDOW_BITS or name in _FOREIGN]
    if len(codings) > 1:
        raise TornAnswer(f"{label}: the answer is compressed {len(codings)} times, at most once is taken")
    if codings and codings[0] in _FOREIGN:
        raise TornAnswer(f"{label}: the answer has a content coding that was not requested; gzip is")
    return codings[0] if codings else None
