"""How much memory may be held for senders whose signature is not known to be good: one budget for all together.

Where it is exhausted the largest body has to go, so that whoever fills it with large ones keeps no small one out:
a body of at most the budget by the number of connections is always taken.
"""

import ctypes
from dataclasses import dataclass, field


class Exhausted(Exception):
    """This body was the largest of too many bytes."""


@dataclass(eq=False, slots=True)
class Body:
    """The bytes of one request so far. `evicted`: its bytes are gone, and the rest of it is not wanted."""

    data: bytearray = field(default_factory=bytearray)
    evicted: bool = False


@dataclass(slots=True)
class Budget:
    """The bytes of all bodies that are being received; `most` of them."""

    most: int
    held: int = 0
    _freed: int = 0
    _bodies: set[Body] = field(default_factory=set[Body])

    def begin(self) -> Body:
        """A request whose body is to come; `release` it, whatever happens."""
        body = Body()
        self._bodies.add(body)
        return body

    def add(self, body: Body, part: bytes) -> None:
        """One more part has arrived.

        Raises:
            Exhausted: this body had to go, now or before.
        """
        if not body.evicted:
            body.data += part
            self.held += len(part)
        while self.held > self.most:
            self._evict(max(self._bodies, key=lambda other: len(other.data)))
        if body.evicted:
            raise Exhausted

    def release(self, body: Body) -> None:
        """It was judged, or is not wanted any more."""
        self._bodies.discard(body)
        self._drop(body)

    def _evict(self, body: Body) -> None:
        self._drop(body)
        body.evicted = True

    def _drop(self, body: Body) -> None:
        self.held -= len(body.data)
        self._freed += len(body.data)
        body.data = bytearray()
        if self._freed >= self.most // 8:
            self._freed = 0
            _give_back()


def _give_back() -> None:
    """What is free goes back to the system; glibc alone would keep it for this process."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
