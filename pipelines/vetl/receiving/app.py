"""The receiver over HTTP; status 200 means that a delivery is genuine and on disk."""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vetl.core.errors import InboxError
from vetl.partner.webhooks import SIGNATURE_HEADER, Channel, Signing
from vetl.receiving import metrics
from vetl.receiving.admission import Refused, Suspects, Trust
from vetl.receiving.budget import Body, Budget, Exhausted
from vetl.receiving.group_commit import Full, GroupCommit
from vetl.receiving.inbox import Backlog, Entry

_log = structlog.stdlib.get_logger("vetl.webhooks")


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits for the size and the duration of a request; the sender gives up after 10 s (contract: Limits).

    `unverified_bytes` limits all bodies together whose signature is not verified yet.
    """

    body_bytes: int = 1_048_576
    unverified_bytes: int = 64 * 1_048_576
    body_seconds: float = 10
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
TOO_SLOW = RequestOutcome("too_slow", 408, "the body did not arrive in time")
GONE = RequestOutcome("gone", 400, "the sender went away")
NOT_JSON = RequestOutcome("refused", 415, "an unsigned delivery must be application/json")
LIMITED = RequestOutcome("limited", 429, "too many deliveries from this address were refused")
CROWDED = RequestOutcome("crowded", 503, "too many bodies are being received; send it again")
BUSY = RequestOutcome("busy", 503, "not stored; send it again")
_RETRY_AFTER = {429: "60", 503: "2"}


def application(
    trust: Callable[[], Trust],
    inbox: GroupCommit,
    backlog: Callable[[], Backlog],
    *,
    dismissed: Callable[[], int] = lambda: 0,
    bounds: Bounds | None = None,
    now: Callable[[], float] = time.monotonic,
) -> Starlette:
    """Return the ASGI application, which closes the inbox's writer at shutdown.

    `trust` is called for each delivery, because secrets are rotated while the receiver runs. `dismissed` returns
    the number of connections that were closed to make room (`connections.Crowd`).
    """
    receiver = Receiver(trust, inbox, backlog, dismissed, bounds or Bounds(), now)

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


class Receiver:
    """The routes of the receiver."""

    def __init__(
        self,
        trust: Callable[[], Trust],
        inbox: GroupCommit,
        backlog: Callable[[], Backlog],
        dismissed: Callable[[], int],
        bounds: Bounds,
        now: Callable[[], float],
    ) -> None:
        self._trust = trust
        self._inbox = inbox
        self._backlog = backlog
        self._dismissed = dismissed
        self._bounds = bounds
        self._now = now
        self._suspects = Suspects(now)
        self._budget = Budget(bounds.unverified_bytes)
        self._metrics = metrics.Metrics()

    async def receive(self, channel: Channel, request: Request) -> Response:
        """Answer one delivery."""
        started = self._now()
        verdict = await self._judge(channel, request)
        self._metrics.count(channel, verdict.result, self._now() - started)
        headers = {"Retry-After": _RETRY_AFTER[verdict.status]} if verdict.status in _RETRY_AFTER else None
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
        try:
            backlog = await asyncio.to_thread(self._backlog)
        except InboxError:
            backlog = None
        return Response(self._metrics.text(self._state(backlog)), media_type=metrics.CONTENT_TYPE)

    def _state(self, backlog: Backlog | None) -> dict[str, tuple[str, float]]:
        state: dict[str, tuple[str, float]] = {
            "vetl_webhook_unverified_bytes": ("Bytes of bodies that are being received.", self._budget.received),
            "vetl_webhook_waiting_for_commit": ("Deliveries that wait for their commit.", self._inbox.waiting),
            "vetl_webhook_connections_dismissed_total": (
                "Connections closed before their request had arrived, as there were too many.",
                self._dismissed(),
            ),
            "vetl_inbox_commits_total": ("Commits since the start.", self._inbox.commits),
            "vetl_inbox_readable": ("1 while the inbox can be read.", backlog is not None),
        }
        if backlog is not None:
            age = (datetime.now(UTC) - backlog.oldest).total_seconds() if backlog.oldest else 0
            state["vetl_inbox_waiting"] = ("Deliveries that wait for `vetl webhooks drain`.", backlog.waiting)
            state["vetl_inbox_oldest_seconds"] = ("Seconds that the oldest of them has waited.", age)
        return state

    async def _judge(self, channel: Channel, request: Request) -> RequestOutcome:
        signature, trust = request.headers.get(SIGNATURE_HEADER), self._trust()
        if signature is None and not trust.unsigned:
            return self._refuse(channel, request, "not signed")
        if signature is None and not _is_json(request):
            return NOT_JSON
        signing, holder = Signing(trust.secrets), self._budget.begin()
        try:
            cut_short = await self._receive(request, holder, signing)
            if cut_short:
                return cut_short
            body = bytes(holder.data)
            practice_id, delivery = trust.admit(channel, body, signing, signature)
        except Refused as refusal:
            return self._refuse(channel, request, str(refusal), refusal.status)
        finally:
            self._budget.release(holder)
        if delivery.problem:
            _say(
                logging.WARNING,
                "not_understood",
                channel=channel.value,
                practice=practice_id,
                why=delivery.problem,
            )
        return await self._keep(Entry(channel, practice_id, body, datetime.now(UTC)))

    async def _keep(self, entry: Entry) -> RequestOutcome:
        try:
            async with asyncio.timeout(self._bounds.commit_seconds):
                return KEPT if await self._inbox.keep(entry) else REPEATED
        except InboxError as error:
            _say(logging.ERROR, "not_stored", why=str(error))
        except (Full, TimeoutError):
            _say(logging.WARNING, "not_stored", why="too many deliveries wait for their commit")
        return BUSY

    async def _receive(self, request: Request, body: Body, signing: Signing) -> RequestOutcome | None:
        """Fill the body with the raw bytes; return an outcome if the request is refused."""
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self._bounds.body_bytes:
            return TOO_LARGE
        try:
            async with asyncio.timeout(self._bounds.body_seconds):
                async for part in request.stream():
                    self._budget.add(body, part)
                    signing.update(part)
                    if len(body.data) > self._bounds.body_bytes:
                        return TOO_LARGE
        except Exhausted:
            return CROWDED
        except TimeoutError:
            return TOO_SLOW
        except ClientDisconnect:
            return GONE
        return None

    def _refuse(
        self, channel: Channel, request: Request, why: str, status: int = Refused.status
    ) -> RequestOutcome:
        source = request.client.host if request.client else "?"
        if self._suspects.note(source):
            return LIMITED
        _say(logging.WARNING, "refused", channel=channel.value, source=source, why=why)
        return RequestOutcome("refused", status, why)


def _say(level: int, event: str, **fields: Any) -> None:  # noqa: ANN401 - structlog's own
    """Log a line; ignore a failure of the log, perhaps on a full disk, which must not change the answer."""
    with suppress(OSError, ValueError):
        _log.log(level, event, **fields)


def _is_json(request: Request) -> bool:
    """Return whether a request is JSON."""
    # A page in a browser may send a form or plain text to any server, but JSON only if the server allows it.
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"
