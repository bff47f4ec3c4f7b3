"""Connections that take their time: how long each may, and who has to go where there are too many.

uvicorn waits for a request's head as long as it takes. So whoever opens connections and says nothing, or a byte
now and then, would in the end hold all of them, and a genuine delivery would not be let in.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_SECONDS = 10
"""The sender itself gives up after as long (contract: Limits)."""

HEAD_BYTES = 16_384
_AROUND_A_HEADER = len(": \r\n")
HEAD_LINES = 100
"""Of a head, whose lines each cost a hundred bytes and more beside their text."""


@dataclass(slots=True)
class Crowd:
    """The connections of one server. `most` of them may be open; the one that waits longest goes for a new one.

    Only those go whose request has not arrived whole: what waits for its commit is answered.
    """

    most: int
    head_seconds: float = HEAD_SECONDS
    dismissed: int = 0
    _unheard: "dict[GuardedConnection, None]" = field(default_factory=dict)

    def waits(self, connection: "GuardedConnection") -> None:
        """Its next request has not arrived whole."""
        self._unheard.pop(connection, None)
        self._unheard[connection] = None

    def heard(self, connection: "GuardedConnection") -> None:
        """Its request is here, or it is gone."""
        self._unheard.pop(connection, None)

    def make_room(self, open_now: int) -> None:
        """Of too many, let the ones go that have waited longest."""
        for connection in list(self._unheard)[: max(0, open_now - self.most)]:
            self.dismissed += 1
            connection.dismiss()


class GuardedConnection(HttpToolsProtocol):
    """uvicorn's connection, with an end to its patience."""

    def __init__(self, crowd: Crowd, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*arguments, **named)
        self._crowd = crowd
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes: int | None = None
        self._head_lines = 0
        self._head_parsed = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn
        """Someone wants to say something."""
        super().connection_made(transport)
        self._wait()
        self._crowd.make_room(len(self.connections))

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed, by whomever."""
        self._stop_waiting()
        self._crowd.heard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request; a head that does not end is not taken for ever."""
        super().data_received(data)
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self.dismiss()

    def on_message_begin(self) -> None:
        """The first byte of a head."""
        self._head_bytes = self._head_lines = self._head_parsed = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Take a part of the address."""
        self._parsed(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take one line of the head."""
        self._head_lines += 1
        self._parsed(len(name) + len(value) + _AROUND_A_HEADER)
        super().on_header(name, value)

    def _parsed(self, size: int) -> None:
        """Count what the parser has found: a head that arrives in one piece is whole before its bytes are counted.

        Raises:
            ValueError: the head is too long; it is answered with 400, as is whatever the parser does not take.
        """
        self._head_parsed += size
        if self._head_lines > HEAD_LINES or self._head_parsed > HEAD_BYTES:
            raise ValueError("the head is too long")

    def on_headers_complete(self) -> None:
        """The head is here; the application limits the time of the body."""
        self._head_bytes = None
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is here; where it was answered before its end, the next one is waited for already."""
        if not self.cycle.response_complete:
            self._crowd.heard(self)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Answered; the next request may take as long as the first, what is left of this one included."""
        super().on_response_complete()
        if not self.transport.is_closing() and self.cycle.response_complete:
            self._wait()

    def dismiss(self) -> None:
        """Close it, whatever was to come."""
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
