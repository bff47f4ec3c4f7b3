"""Limit the duration and the number of connections that wait for their request.

uvicorn waits for the head of a request without a limit. So a client that opens connections and sends nothing, or a
byte now and then, would finally occupy all connections, and a genuine delivery would be refused.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10
"""Most seconds for the head of a request; the sender gives up after the same time (contract: Limits)."""

HEAD_BYTES = 16_384
_AROUND_A_HEADER = len(": \r\n")
HEAD_LINES = 100
"""Most lines of a head, because each line costs a hundred bytes and more beside its text."""


@dataclass(slots=True)
class Crowd:
    """The connections of one server; if more than `most` are open, the longest waiting one is closed.

    A connection waits until its request has arrived completely. A request that waits for its commit is answered.
    """

    most: int
    head_seconds: float = HEAD_SECONDS
    dismissed: int = 0
    _unheard: "dict[GuardedConnection, None]" = field(default_factory=dict)

    def waits(self, connection: "GuardedConnection") -> None:
        """Note that a connection waits for its next request."""
        self._unheard.pop(connection, None)
        self._unheard[connection] = None

    def heard(self, connection: "GuardedConnection") -> None:
        """Note that the request of a connection has arrived, or that it is closed."""
        self._unheard.pop(connection, None)

    def make_room(self, open_now: int) -> None:
        """Close the connections that have waited longest, if there are too many."""
        for connection in list(self._unheard)[: max(0, open_now - self.most)]:
            self.dismissed += 1
            connection.dismiss()


class GuardedConnection(HttpToolsProtocol):
    """uvicorn's connection with limits for the head of a request."""

    def __init__(self, crowd: Crowd, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*arguments, **named)
        self._crowd = crowd
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes: int | None = None
        self._head_lines = 0
        self._head_parsed = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn
        """Start to wait for the first request."""
        super().connection_made(transport)
        self._wait()
        self._crowd.make_room(len(self.connections))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, which one of both sides has closed."""
        self._stop_waiting()
        self._crowd.heard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse a part of a request; close the connection if its head is too long."""
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self.dismiss()

    def on_message_begin(self) -> None:
        """Start to count a head."""
        self._head_bytes = self._head_lines = self._head_parsed = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Count a part of the address."""
        self._parsed(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count one line of the head."""
        self._head_lines += 1
        self._parsed(len(name) + len(value) + _AROUND_A_HEADER)
        super().on_header(name, value)

    def _parsed(self, size: int) -> None:
        """Count parsed bytes, because a head in one piece is complete before `data_received` counts its bytes.

        Raises:
            ValueError: the head is too long; the answer is 400, as for every head that the parser refuses.
        """
        self._head_parsed += size
        if self._head_lines > HEAD_LINES or self._head_parsed > HEAD_BYTES:
            raise ValueError("the head is too long")

    def on_headers_complete(self) -> None:
        """Stop the deadline of the head; the application limits the time of the body."""
        self._head_bytes = None
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note the end of a request; if it was answered before, the connection waits for the next one already."""
        if not self.cycle.response_complete:
            self._crowd.heard(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start to wait for the next request, and for the rest of this one, with the same limit."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.cycle.response_complete:
            self._wait()

    def dismiss(self) -> None:
        """Close the connection."""
        self._crowd.heard(self)
        self.transport.abort()

    def _wait(self) -> None:
        self._stop_waiting()
        self._crowd.waits(self)
        self._deadline = self.loop.call_later(self._crowd.head_seconds, self.dismiss)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
