"""A loopback HTTP server with scripted answers, to the byte, and a clock that tests move."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr
from vetl.core.pages import Page
from vetl.partner.client import Account, Limits, PartnerClient, Timing
from vetl.partner.retries import RetryPolicy

T = TypeVar("T")

SERVER_TIME = "Sat, 21 Nov 2026 10:00:00 GMT"
SIGN_IN = "/services/user/v1/auth/sign-in"
USERNAME, PASSWORD, ROLE = "harbor-partner", "correct horse battery", "partner-role"
PRACTICE = "loc-001"


@dataclass(frozen=True)
class ReceivedRequest:
    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: bytes

    @property
    def token(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True)
class Reply:
    """A scripted answer. `cut` ends the connection after so many bytes of the body; `hang` never answers."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    hang: bool = False


def reply_json(value: object, status: int = 200, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **named})


def reply_data(data: object, status: int = 200, **headers: str) -> Reply:
    return reply_json({"success": True, "data": data, "message": None}, status, **headers)


def reply_page(rows: list[dict[str, Any]], total: int | None = None, **headers: str) -> Reply:
    total = len(rows) if total is None else total
    return reply_data({"page": 0, "per_page": 100, "total_count": total, "content": rows}, 200, **headers)


def reply_error(status: int, message: str = "no", **headers: str) -> Reply:
    return reply_json({"success": False, "message": message}, status, **headers)


Handler = Callable[[ReceivedRequest], Reply | Awaitable[Reply]]


class ScriptedServer:
    """Signs in with `token-1`, `token-2`, ... unless `sign_in` says otherwise; `handler` answers the rest.

    A list of replies is given one by one; the last is repeated for ever.
    """

    def __init__(self) -> None:
        self.base_url = ""
        self.asked: list[ReceivedRequest] = []
        self.sign_ins = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.connections = 0
        self.handler: Handler = lambda _: reply_page([])
        self.sign_in: Handler = lambda _: reply_data({"token": f"token-{self.sign_ins}"})

    def answers(self, *replies: Reply) -> None:
        left = list(replies)
        self.handler = lambda _: left.pop(0) if len(left) > 1 else left[0]

    def sign_in_answers(self, *replies: Reply) -> None:
        left = list(replies)
        self.sign_in = lambda _: left.pop(0) if len(left) > 1 else left[0]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while asked := await _read_request(reader):
                reply = await self._reply(asked)
                if reply.hang:
                    await reader.read()  # until the client gives up
                    break
                writer.write(_bytes(reply))
                await writer.drain()
                if reply.cut is not None:
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client is gone, or the test is over
        finally:
            writer.close()

    async def _reply(self, asked: ReceivedRequest) -> Reply:
        if asked.path == SIGN_IN:
            self.sign_ins += 1
            answer = self.sign_in(asked)
        else:
            self.asked.append(asked)
            answer = self.handler(asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return answer if isinstance(answer, Reply) else await answer
        finally:
            self.in_flight -= 1


async def _read_request(reader: asyncio.StreamReader) -> ReceivedRequest | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    parts = urlsplit(target)
    return ReceivedRequest(method, parts.path, parse_qsl(parts.query, keep_blank_values=True), headers, body)


def _bytes(reply: Reply) -> bytes:
    headers = {"Date": SERVER_TIME, "Content-Length": str(len(reply.body)), **reply.headers}
    lines = [
        f"HTTP/1.1 {reply.status} Status",
        *(f"{name}: {text}" for name, text in headers.items() if text),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + reply.body[: reply.cut]


async def until(condition: Callable[[], object]) -> None:
    """Let the other tasks run until something has happened on the server or the clock."""
    while not condition():  # noqa: ASYNC110 - there is no event to wait for, and it takes a few turns only
        await asyncio.sleep(0)


class HeldTime:
    """A clock that advances only if a task sleeps; `slept` has every wait in seconds."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.slept: list[float] = []
        self.timing = Timing(
            now=lambda: datetime(2026, 11, 21, 9, 41, tzinfo=UTC) + timedelta(seconds=self.seconds),
            monotonic=lambda: self.seconds,
            sleep=self.sleep,
            chance=lambda: 1.0,
        )

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        wake = self.seconds + seconds
        await asyncio.sleep(0)
        self.seconds = max(self.seconds, wake)


@dataclass
class Stage:
    server: ScriptedServer
    time: HeldTime
    logs: list[Any]

    def play(
        self,
        scene: Callable[[PartnerClient], Coroutine[Any, Any, T]],
        limits: Limits | None = None,
        policy: RetryPolicy | None = None,
    ) -> T:
        """Run `scene` with a client that is connected to the server."""

        async def run() -> T:
            async with self._running(), asyncio.timeout(60):
                account = Account(self.server.base_url, USERNAME, SecretStr(PASSWORD), ROLE)
                async with PartnerClient(account, limits, timing=self.time.timing, retry_policy=policy) as client:
                    return await scene(client)

        return asyncio.run(run())

    @asynccontextmanager
    async def _running(self) -> AsyncGenerator[None]:
        listener = await asyncio.start_server(self.server.serve, "127.0.0.1", 0)
        self.server.base_url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            listener.close()


async def one(client: PartnerClient) -> Page:
    return await client.page(PRACTICE, "staff_tasks", {})


async def many(client: PartnerClient) -> list[Page]:
    """Read eight pages at once."""
    return await asyncio.gather(*(client.page(PRACTICE, "staff_tasks", {"page": str(n)}) for n in range(8)))
