"""The receiver's application on a real inbox, called in-process."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.deliveries import SECRET, body_of, signed
from vetl.addons.webhooks.receiver import Bounds, GroupCommit, Trust, application
from vetl.partner.webhooks import Secret
from vetl.receiving.inbox import Entry, Inbox

TRUST = Trust((Secret(SECRET),))


class Receiver:
    """A running receiver, and a sender's side of it."""

    def __init__(self, loop: asyncio.Runner, http: httpx.AsyncClient, inbox: Inbox) -> None:
        self._loop = loop
        self._http = http
        self.inbox = inbox

    def send(self, channel: str, payload: dict[str, Any] | bytes, secret: str = SECRET) -> httpx.Response:
        body = payload if isinstance(payload, bytes) else body_of(payload)
        return self.post(f"/webhooks/{channel}", content=body, headers=signed(body, secret))

    def post(self, path: str, **request: Any) -> httpx.Response:
        return self._loop.run(self._http.post(path, **request))

    def get(self, path: str) -> httpx.Response:
        return self._loop.run(self._http.get(path))

    def kept(self) -> list[Entry]:
        return self.inbox.waiting(1_000)


@pytest.fixture
def receiver(tmp_path: Path) -> Callable[..., AbstractContextManager[Receiver]]:
    """Provide a function that opens a receiver."""

    @contextmanager
    def open_receiver(trust: Trust = TRUST, *, bounds: Bounds | None = None) -> Generator[Receiver]:
        with Inbox.open(tmp_path / "inbox.sqlite") as inbox, asyncio.Runner() as loop:
            writer = GroupCommit(inbox)
            app = application(lambda: trust, writer, inbox.backlog, bounds=bounds)
            http = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://receiver")
            yield Receiver(loop, http, inbox)
            loop.run(http.aclose())
            loop.run(writer.close())

    return open_receiver
