"""A memory budget for all bodies together whose signature is not verified yet.

If the budget is exhausted, the largest body is dropped, so that a sender who fills it with large bodies displaces
no small ones. A body of at most the budget divided by the number of connections is always accepted.
"""

import ctypes
from dataclasses import dataclass, field


class Exhausted(Exception):
    """This body was the largest one while there were too many bytes."""


@dataclass(eq=False, slots=True)
class Body:
    """The bytes of one request so far; `evicted`: its bytes were dropped, and the rest of it is refused."""

    data: bytearray = field(default_factory=bytearray)
    evicted: bool = False


@dataclass(slots=True)
class Budget:
    """The bytes of all bodies that are being received, at most `most`."""

    most: int
    received: int = 0
    _freed: int = 0
    _bodies: set[Body] = field(default_factory=set[Body])

    def begin(self) -> Body:
        """Return an empty body for a new request; the caller must `release` it in any case."""
        body = Body()
        self._bodies.add(body)
        return body

    def add(self, body: Body, part: bytes) -> None:
        """Add a part that has arrived.

        Raises:
            Exhausted: this body was dropped, now or before.
        """
        if not body.evicted:
            body.data += part
            self.received += len(part)
        while self.received > self.most:
            self._evict(max(self._bodies, key=lambda other: len(other.data)))
        if body.evicted:
            raise Exhausted

    def release(self, body: Body) -> None:
        """Free the bytes of a body that is finished or refused."""
        self._bodies.discard(body)
        self._drop(body)

    def _evict(self, body: Body) -> None:
        self._drop(body)
        body.evicted = True

    def _drop(self, body: Body) -> None:
        self.received -= len(body.data)
        self._freed += len(body.data)
        body.data = bytearray()
        if self._freed >= self.most // 8:
            self._freed = 0
            _give_back()


def _give_back() -> None:
    """Return free memory to the system, because glibc would keep it for this process."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
