"""The receiver's application on a real inbox, called in-process."""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.deliveries import SECRET, body_of, signed
from support.drain_side import Side

from pipelines.core.errors import InboxError
from pipelines.partner.webhooks import Secret
from pipelines.receiving.admission import Trust
from pipelines.receiving.app import Bounds, application
from pipelines.receiving.group_commit import GroupCommit
from pipelines.receiving.inbox import Entry, Inbox, WaitingDelivery

TRUST = Trust((Secret(SECRET),))


class FlakyInbox:
    """An inbox whose disk can be full."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self.full = False

    def keep(self, entries: Sequence[Entry]) -> list[bool]:
        self._check()
        return self.inbox.keep(entries)

    def probe(self) -> None:
        self._check()
        self.inbox.probe()

    def _check(self) -> None:
        if self.full:
            raise InboxError("inbox.sqlite: database or disk is full")


class Receiver:
    """A running receiver, and a sender's side of it."""

    def __init__(self, http: httpx.AsyncClient, inbox: Inbox, disk: FlakyInbox) -> None:
        self.http = http
        self.inbox = inbox
        self.disk = disk

    async def send(self, channel: str, payload: dict[str, Any] | bytes, secret: str = SECRET) -> httpx.Response:
        body = payload if isinstance(payload, bytes) else body_of(payload)
        return await self.http.post(f"/webhooks/{channel}", content=body, headers=signed(body, secret))

    def kept(self) -> list[WaitingDelivery]:
        return self.inbox.waiting(1_000)


Opened = Callable[..., AbstractAsyncContextManager[Receiver]]


@pytest.fixture
def receiver(tmp_path: Path) -> Opened:
    """Provide a function that opens a receiver; its argument `now` is the clock of its limits."""

    @asynccontextmanager
    async def open_receiver(
        trust: Trust = TRUST,
        *,
        bounds: Bounds | None = None,
        capacity: int = 100,
        now: Callable[[], float] = lambda: 0.0,
    ) -> AsyncGenerator[Receiver]:
        with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
            disk = FlakyInbox(inbox)
            writer = GroupCommit(disk, capacity=capacity)
            app = application(lambda: trust, writer, inbox.backlog, bounds=bounds, now=now)
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as http:
                yield Receiver(http, inbox, disk)
            await writer.close()

    return open_receiver


@pytest.fixture
def moment() -> datetime:
    """Return the time of a receipt."""
    return datetime(2026, 3, 1, 10, tzinfo=UTC)


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    side = Side(tmp_path)
    yield side
    side.close()
