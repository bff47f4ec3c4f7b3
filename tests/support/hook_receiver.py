"""A webhook address on this machine that answers as the test by_practice, and stores its requests."""

import hashlib
import hmac
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from support.processes import serving

_HELD_SECONDS = 5


@dataclass
class Got:
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return json.loads(self.raw)

    def is_signed_with(self, secret: str) -> bool:
        """Return whether its signature is right (contract: Authentication, 7)."""
        right = hmac.new(secret.encode(), self.raw, hashlib.sha256).hexdigest()
        return self.headers.get("x-webhook-signature") == right


@dataclass
class Receiver:
    """Answers with the next of `answers`, then 200. If `held` is an event, it waits for it before it answers."""

    url: str
    got: list[Got] = field(default_factory=list[Got])
    answers: list[int] = field(default_factory=list[int])
    held: threading.Event | None = None

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [got.body for got in self.got]

    @property
    def events(self) -> list[str]:
        return [body["event"] for body in self.bodies]


@contextmanager
def receiving() -> Generator[Receiver]:
    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(Got(self.path, {key.lower(): value for key, value in self.headers.items()}, body))
            if receiver.held is not None:
                receiver.held.wait(_HELD_SECONDS)
            self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
            self.end_headers()

    with serving(Hook) as address:
        receiver = Receiver(f"{address}/hook")
        yield receiver
