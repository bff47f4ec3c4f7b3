"""A network proxy that can refuse connections, cut them off for a while, or leave them without an answer."""

import asyncio
import socket
import struct
from collections.abc import Coroutine, Generator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any, Literal
from urllib.parse import urlsplit

State = Literal["open", "shut", "stalled"]
AT_ONCE = struct.pack("ii", 1, 0)


class Door:
    """Passes bytes both ways while it is open; it is silent while stalled, and does not listen while shut."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._behind = (parts.hostname or "", parts.port or 0)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._port = 0
        self.state: State = "shut"

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def end(self) -> None:
        self._do(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def open(self) -> None:
        self._do(self._open())

    def stall(self) -> None:
        """Accept connections, but pass no byte through any of them."""
        self.state = "stalled"

    def restart(self, seconds: float) -> None:
        """Shut now and open again after a while, without waiting for it."""
        self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self._restart(seconds)))

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _restart(self, seconds: float) -> None:
        await self._shut()
        await asyncio.sleep(seconds)
        await self._open()

    async def _open(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port, reuse_address=True)
            self._port = self._server.sockets[0].getsockname()[1]
        self.state = "open"

    async def _shut(self) -> None:
        self.state, server, self._server = "shut", self._server, None
        if server is not None:
            server.close()
        for writer in list(self._writers):
            plain: socket.socket = writer.get_extra_info("socket")
            with suppress(OSError):
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            there_reader, there_writer = await asyncio.open_connection(*self._behind)
            self._writers |= {writer, there_writer}
            ways = (self._hand_on(reader, there_writer), self._hand_on(there_reader, writer))
            await asyncio.gather(*ways)
            self._writers -= {writer, there_writer}

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while content := await reader.read(65536):
                while self.state == "stalled":  # noqa: ASYNC110 - set from another thread
                    await asyncio.sleep(0.01)
                writer.write(content)
                await writer.drain()
        with suppress(OSError, RuntimeError):
            writer.close()


@contextmanager
def door_before(base_url: str) -> Generator[Door]:
    door = Door(base_url)
    door.open()
    try:
        yield door
    finally:
        door.end()
