"""The receiver over HTTP; status 200 means that a delivery is genuine and on disk.

All deliveries that arrive during one commit go into the next one. So one fsync serves many senders, and each is
still acknowledged after its own commit.

A delivery is genuine by its signature alone, with the secrets that are active now. It may be hours late (contract:
the hourly reconciliation) and may come from any address, so neither its time nor its source matters.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import structlog
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vetl.core.errors import MAKE_ROOM, InboxError
from vetl.partner import webhooks
from vetl.partner.webhooks import SIGNATURE_HEADER, Channel, Delivery, Secret, Signing
from vetl.receiving.inbox import Backlog, Entry, Inbox

T = TypeVar("T")

AT_ONCE = 1_000
"""Most entries of one commit, so that the first entry of a burst does not wait for all others."""

CAPACITY = 10_000
"""Most entries that may wait for their commit; further senders are asked to send again later."""


CAPACITY_BYTES = 64 * 1_048_576
"""Most bytes of waiting bodies, needed if unsigned deliveries are accepted (`--accept-unsigned`)."""


class Refused(Exception):
    """The delivery is not genuine; the message is the reason and contains nothing of the body."""

    def __init__(self, reason: str, status: int = 401) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class Trust:
    """The active secrets; `unsigned` accepts deliveries without a signature for practices without a secret."""

    secrets: tuple[Secret, ...]
    unsigned: bool = False

    def admit(
        self, channel: Channel, body: bytes, signing: Signing, signature: str | None
    ) -> tuple[str, Delivery]:
        """Return the practice of a delivery, empty if it is unknown, and the delivery.

        `signing` has hashed the whole body. The body is not parsed before its signature is verified. Raise
        `Refused` if the delivery is not signed, not by an active secret, or by that of another practice.
        """
        if signature is None:
            return self._unsigned(channel, body)
        signed_by = signing.signers(signature)
        if not signed_by:
            raise Refused("the signature is not of an active secret")
        delivery = webhooks.parse_delivery(channel, body)
        if not webhooks.may_speak_for(signed_by, delivery.practice_id):
            raise Refused("signed for another practice", 403)
        return webhooks.practice_of(signed_by, delivery) or "", delivery

    def _unsigned(self, channel: Channel, body: bytes) -> tuple[str, Delivery]:
        if not self.unsigned:
            raise Refused("not signed")
        delivery = webhooks.parse_delivery(channel, body)
        if delivery.problem:
            raise Refused("neither signed nor understood")
        if any(item.practice_id in (None, delivery.practice_id) for item in self.secrets):
            raise Refused("not signed, though there is a secret for the practice")
        return delivery.practice_id or "", delivery


class Full(Exception):
    """Too many deliveries wait for their commit."""


class GroupCommit:
    """The inbox for many concurrent callers on one event loop; one thread of its own writes the file."""

    def __init__(self, inbox: Inbox, *, capacity: int = CAPACITY) -> None:
        self._inbox = inbox
        self._capacity = capacity
        self._waiting: list[tuple[Entry, asyncio.Future[bool]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inbox")
        self._bytes = 0
        self.commits = 0

    @property
    def waiting(self) -> int:
        """Return the number of entries that wait for their commit."""
        return len(self._waiting)

    async def keep(self, entry: Entry) -> bool:
        """Return after the entry is on disk: true if it is new, false if it was stored before.

        Raise `Full` if too many entries wait; `InboxError` if the entry could not be written.
        """
        if len(self._waiting) >= self._capacity or self._bytes + len(entry.body) > CAPACITY_BYTES:
            raise Full
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((entry, written))
        self._bytes += len(entry.body)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write())
        return await written

    async def probe(self) -> None:
        """Test that the inbox can be written; raise `InboxError` if the inbox cannot be written."""
        await self._in_thread(self._inbox.probe)

    async def close(self) -> None:
        """Write the waiting entries, then stop."""
        if self._writer is not None:
            await self._writer
        self._thread.shutdown()

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:AT_ONCE], self._waiting[AT_ONCE:]
            self._bytes = sum(len(entry.body) for entry, _ in self._waiting)
            entries = [entry for entry, _ in batch]
            try:
                news = await self._in_thread(lambda entries=entries: self._inbox.keep(entries))
            except Exception as error:  # noqa: BLE001 - every waiting sender needs an answer
                failure = InboxError(str(error) if isinstance(error, InboxError) else type(error).__name__)
                for _, written in batch:
                    if not written.done():
                        written.set_exception(failure)
            else:
                self.commits += 1
                for (_, written), new in zip(batch, news, strict=True):
                    if not written.done():
                        written.set_result(new)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


_MAKE_ROOM = "make room; senders get 503 until then, and no restart is needed"
"""The remedy for a full disk, in the place of that of a command, which is run again."""

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_GAUGES = {
    "vetl_webhook_waiting_for_commit": "Deliveries that wait for a commit.",
    "vetl_inbox_commits": "Commits since the start.",
    "vetl_inbox_readable": "1 while the inbox can be read.",
    "vetl_inbox_waiting": "Deliveries that wait for `vetl webhooks drain`.",
    "vetl_inbox_oldest_seconds": "Seconds that the oldest of them has waited.",
}


class Metrics(Collector):
    """The counts of one process since its start, and the state of its inbox at the time of the question."""

    def __init__(self, inbox: GroupCommit, backlog: Callable[[], Backlog]) -> None:
        self._inbox, self._backlog = inbox, backlog
        self.registry = CollectorRegistry()
        words = "Requests to the webhook addresses, by their result."
        labels = ["channel", "result"]
        self._deliveries = Counter("vetl_webhook_deliveries", words, labels, registry=self.registry)
        words = "From the request's head to its answer."
        self._seconds = Histogram("vetl_webhook_seconds", words, buckets=_BOUNDS, registry=self.registry)
        self.registry.register(self)

    def count(self, channel: str, result: str, seconds: float) -> None:
        """Count a finished request; `result` is a word such as kept or refused, never a value of the body."""
        self._deliveries.labels(channel, result).inc()
        self._seconds.observe(seconds)

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield each value of the inbox."""
        values: list[float] = [self._inbox.waiting, self._inbox.commits, 0]
        with suppress(InboxError):
            backlog = self._backlog()
            age = (datetime.now(UTC) - backlog.oldest).total_seconds() if backlog.oldest else 0
            values = [*values[:2], 1, backlog.waiting, age]
        for (name, meaning), value in zip(_GAUGES.items(), values, strict=False):
            yield GaugeMetricFamily(name, meaning, value)


_log = structlog.stdlib.get_logger("vetl.webhooks")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one delivery; the sender gives up after 10 s (contract: Limits).

    The proxy before the receiver has those of slow and of many senders (`deploy/compose/Caddyfile`).
    """

    body_bytes: int = 1_048_576
    commit_seconds: float = 9


@dataclass(frozen=True, slots=True)
class RequestOutcome:
    """The outcome of a request: a word for the metrics, and the status and the message for the sender."""

    result: str
    status: int
    message: str | None = None


KEPT = RequestOutcome("kept", 200)
REPEATED = RequestOutcome("repeated", 200)
TOO_LARGE = RequestOutcome("too_large", 413, "the body is too large")
GONE = RequestOutcome("gone", 400, "the sender went away")
NOT_JSON = RequestOutcome("refused", 415, "an unsigned delivery must be application/json")
BUSY = RequestOutcome("busy", 503, "not stored; send it again")


def application(
    trust: Callable[[], Trust], inbox: GroupCommit, backlog: Callable[[], Backlog], *, bounds: Bounds | None = None
) -> Starlette:
    """Return the ASGI application, which closes the inbox's writer at shutdown.

    `trust` is called for each delivery, because secrets are rotated while the receiver runs.
    """
    receiver = Receiver(trust, inbox, Metrics(inbox, backlog), bounds or Bounds())

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        await inbox.close()

    app = Starlette(
        routes=[
            *(
                # A sender that adds a slash may not follow a redirection, so its delivery would be lost.
                Route(f"/webhooks/{channel.value}{slash}", partial(receiver.receive, channel), methods=["POST"])
                for channel in Channel
                for slash in ("", "/")
            ),
            Route("/healthz", receiver.health),
            Route("/readyz", receiver.ready),
            Route("/metrics", receiver.metrics),
        ],
        lifespan=lifespan,
    )
    # The address of a redirection would contain the sender's own Host header.
    app.router.redirect_slashes = False
    return app


@dataclass(frozen=True, slots=True)
class Receiver:
    """The routes of the receiver."""

    _trust: Callable[[], Trust]
    _inbox: GroupCommit
    _metrics: Metrics
    _bounds: Bounds

    async def receive(self, channel: Channel, request: Request) -> Response:
        """Answer one delivery."""
        started = time.monotonic()
        verdict = await self._judge(channel, request)
        self._metrics.count(channel, verdict.result, time.monotonic() - started)
        headers = {"Retry-After": "2"} if verdict is BUSY else None
        answer = {"success": verdict.status == KEPT.status, "message": verdict.message}
        return JSONResponse(answer, verdict.status, headers)

    async def health(self, _: Request) -> Response:
        """Answer that the process runs."""
        return JSONResponse({"status": "ok"})

    async def ready(self, _: Request) -> Response:
        """Answer whether a delivery can be stored now."""
        try:
            async with asyncio.timeout(self._bounds.commit_seconds):
                await self._inbox.probe()
        except (InboxError, TimeoutError):
            return JSONResponse({"status": "the inbox cannot be written"}, BUSY.status)
        return JSONResponse({"status": "ok"})

    async def metrics(self, _: Request) -> Response:
        """Answer with the counts since the start and the state of the inbox."""
        text = await asyncio.to_thread(generate_latest, self._metrics.registry)
        return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    async def _judge(self, channel: Channel, request: Request) -> RequestOutcome:
        signature, trust = request.headers.get(SIGNATURE_HEADER), self._trust()
        if signature is None and not trust.unsigned:
            return self._refuse(channel, request, "not signed")
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        # A page in a browser may send a form or plain text to any server, but JSON only if the server allows it.
        if signature is None and media_type != "application/json":
            return NOT_JSON
        signing = Signing(trust.secrets)
        try:
            body = await self._received(request, signing)
            if isinstance(body, RequestOutcome):
                return body
            practice_id, delivery = trust.admit(channel, body, signing, signature)
        except Refused as refusal:
            return self._refuse(channel, request, str(refusal), refusal.status)
        if delivery.problem:
            about = {"channel": channel.value, "practice": practice_id}
            _say(logging.WARNING, "not_understood", **about, why=delivery.problem)
        return await self._keep(Entry(channel, practice_id, body, datetime.now(UTC)))

    async def _keep(self, entry: Entry) -> RequestOutcome:
        try:
            async with asyncio.timeout(self._bounds.commit_seconds):
                return KEPT if await self._inbox.keep(entry) else REPEATED
        except InboxError as error:
            _say(logging.ERROR, "not_stored", why=str(error).replace(MAKE_ROOM[2:], _MAKE_ROOM))
        except (Full, TimeoutError):
            _say(logging.WARNING, "not_stored", why="too many deliveries wait for their commit")
        return BUSY

    async def _received(self, request: Request, signing: Signing) -> bytes | RequestOutcome:
        """Return the raw bytes of a body, hashed; or the outcome if it is too large or cut off."""
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._bounds.body_bytes:
            return TOO_LARGE
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                signing.update(part)
                if len(body) > self._bounds.body_bytes:
                    return TOO_LARGE
        except ClientDisconnect:
            return GONE
        return bytes(body)

    def _refuse(self, channel: Channel, request: Request, why: str, status: int = 401) -> RequestOutcome:
        source = request.client.host if request.client else "?"
        _say(logging.WARNING, "refused", channel=channel.value, source=source, why=why)
        return RequestOutcome("refused", status, why)


def _say(level: int, event: str, **fields: Any) -> None:  # noqa: ANN401 - structlog's own
    """Log a line; ignore a failure of the log, perhaps on a full disk, which must not change the answer."""
    with suppress(OSError, ValueError):
        _log.log(level, event, **fields)
