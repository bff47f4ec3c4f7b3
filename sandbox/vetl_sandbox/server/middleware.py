"""The layers around every request: the clock's `Date`, the journal of requests, and faults."""

import asyncio
import time
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Final

import orjson
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vetl_sandbox.faults import Fault
from vetl_sandbox.platform import Platform, Seen
from vetl_sandbox.resources.registry import RESOURCES
from vetl_sandbox.server.spoiling import is_csv, spoiled, spoils

CONTROL: Final = "/_control"
_HTML: Final = "<!doctype html><html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"


class Journal:
    """Dates every answer by the platform's clock, and keeps a record of every request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `Journal`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        platform, arrived = _platform(scope), time.monotonic()

        async def dated(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                ahead = timedelta(seconds=platform.switches.date_ahead_seconds)
                headers["Date"] = format_datetime(platform.now() + ahead, usegmt=True)
                if not scope["path"].startswith(CONTROL):
                    _note(platform, scope, message["status"], arrived)
            await send(message)

        try:
            await self._app(scope, receive, dated)
        except Exception:
            # A defect of the sandbox: the server outside of this layer answers with the 500.
            _note(platform, scope, 500, arrived)
            raise


class FaultInjector:
    """Applies the faults that are set to requests."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See `FaultInjector`."""
        fault = self._fault(scope)
        if fault is None:
            await self._app(scope, receive, send)
        elif fault.kind in ("closed", "truncated_csv", "failed_late", "edited") or spoils(fault.kind):
            await self._spoil(fault, scope, receive, send)
        elif fault.kind == "twice":
            await _carry_out_twice(self._app, scope, receive, send)
        elif fault.kind in ("slow", "rows_move"):
            if fault.kind == "slow":
                await asyncio.sleep(fault.wait_seconds)
            else:
                _move_a_row(_platform(scope), scope)
            await self._app(scope, receive, send)
        else:
            if fault.kind == "token_revoked":
                _platform(scope).revoke_tokens()
            await _answer(fault, _platform(scope).now())(scope, receive, send)

    def _fault(self, scope: Scope) -> Fault | None:
        if scope["type"] != "http" or scope["path"].startswith(CONTROL):
            return None
        practice = Headers(scope=scope).get("x-client-id")
        query = scope["query_string"].decode("latin-1")
        target = f"{scope['method']} {scope['path']}"
        return _platform(scope).faults.strike(target, f"{target}?{query} {practice}")

    async def _spoil(self, fault: Fault, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request be answered, and send half of the answer, or another answer."""
        start: Message = {}
        body = b""

        async def hold(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                start = message
            else:
                body += message.get("body", b"")

        await self._app(scope, receive, hold)
        if fault.kind == "failed_late":
            await _answer(fault, _platform(scope).now())(scope, receive, send)
            return
        if fault.kind == "edited":
            _edit_created(_platform(scope), scope, body)
        half = body[: len(body) // 2]
        if fault.kind == "closed":
            await send(start)
            # The promised length never comes: the server closes the connection.
            await send({"type": "http.response.body", "body": half, "more_body": True})
            return
        as_csv = "text/csv" in Headers(raw=start["headers"]).get("content-type", "")
        if spoils(fault.kind):
            half = spoiled(fault.kind, body) if as_csv == is_csv(fault.kind) else body
        elif not as_csv or fault.kind == "edited":
            half = body
        MutableHeaders(scope=start)["Content-Length"] = str(len(half))
        await send(start)
        await send({"type": "http.response.body", "body": half})


async def _carry_out_twice(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Pass a request on two times, as a proxy does that repeats a POST by itself; the first answer is lost."""
    read: list[Message] = []

    async def keep() -> Message:
        read.append(await receive())
        return read[-1]

    async def lose(_: Message) -> None: ...

    await app(dict(scope), keep, lose)
    again = iter(read)

    async def repeat() -> Message:
        return next(again, None) or await receive()

    await app(scope, repeat, send)


def _platform(scope: Scope) -> Platform:
    return scope["app"].state.platform


def _move_a_row(platform: Platform, scope: Scope) -> None:
    """Change a row of the requested list, another row each time; set `updated_at` if the list has it."""
    practice_id = Headers(scope=scope).get("x-client-id")
    name = next((name for name, of in RESOURCES.items() if scope["path"].endswith(f"/{of.path}")), None)
    if name is None or practice_id not in platform.world.practices:
        return
    with platform.lock:
        table, now = platform.table(practice_id, name), platform.now()
        snapshot = table.snapshot(now, platform.switches)
        if snapshot.frame.height:
            place = len(platform.requests) * 7919 % snapshot.frame.height
            row = table.records(snapshot.frame.slice(place, 1), snapshot)[0]
            changes = {"updated_at": now} if "updated_at" in row else {}
            table.update(str(row["id"]), changes, now, platform.switches)


def _edit_created(platform: Platform, scope: Scope, body: bytes) -> None:
    """Rewrite the task that an answer says was created, as a person of the practice may do at once."""
    practice_id, answer = Headers(scope=scope).get("x-client-id"), orjson.loads(body)
    created = answer.get("data") if answer.get("success") else None
    if scope["method"] == "POST" and isinstance(created, dict) and practice_id in platform.world.practices:
        with platform.lock:
            table, now = platform.table(practice_id, "staff_tasks"), platform.now()
            changes = {"title": "Call them", "description": "I will do it on Monday", "updated_at": now}
            table.update(str(created["id"]), changes, now, platform.switches)


def _note(platform: Platform, scope: Scope, status: int, arrived: float) -> None:
    practice = Headers(scope=scope).get("x-client-id")
    query = scope["query_string"].decode("latin-1")
    platform.requests.log.append(Seen(scope["method"], scope["path"], query, practice, status, arrived))


def _answer(fault: Fault, now: datetime) -> Response:
    match fault.kind:
        case "rate_limited":
            return _error(429, "Rate limit exceeded", _retry_after(fault, now))
        case "login_page":
            return Response(_HTML.format("Please sign in"), 200, media_type="text/html")
        case "token_revoked":
            return _error(401, "Unauthorized")
        case _ if fault.body == "html":
            return Response(_HTML.format(f"{fault.status} upstream error"), fault.status, media_type="text/html")
        case _:
            message = "Forbidden" if fault.status == 403 else "Internal server error"  # noqa: PLR2004
            return _error(fault.status, message)


def _retry_after(fault: Fault, now: datetime) -> dict[str, str]:
    match fault.retry_after:
        case "seconds":
            return {"Retry-After": f"{fault.wait_seconds:g}"}
        case "date":
            return {"Retry-After": format_datetime(now + timedelta(seconds=fault.wait_seconds), usegmt=True)}
        case "none":
            return {}


def _error(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    body = orjson.dumps({"success": False, "message": message})
    return Response(body, status, headers, "application/json")
