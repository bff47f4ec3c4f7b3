"""Bytes over HTTP. The one module that imports httpx.

It speaks to httpx's transports instead of `httpx.AsyncClient`: redirects, cookies and stored authentication
are not wanted here, and without them a request costs a quarter less. Each transport is one connection: a pool of
32 looks at all of them for every request, which costs 2.6 ms of CPU a request instead of 0.8.
"""

import asyncio
import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import NoReturn
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from pipelines.core.errors import ConfigurationError, RequestRefused, TornAnswer, Unreachable
from pipelines.partner.account import Account, Limits, checked_base_url, is_this_machine
from pipelines.partner.answer_body import read_body
from pipelines.partner.pace import SharedPace
from pipelines.partner.protocol import Request
from pipelines.partner.redaction import redact

Transport = httpx.AsyncBaseTransport

PATIENCE = 10
"""A whole answer may take this many times `timeout_seconds`, however steadily it drips."""

IDLE_SECONDS = 3.0
"""After which a connection is not used again: many servers drop theirs after five."""

httpcore.AsyncHTTP11Connection.READ_NUM_BYTES = 256 * 1024  # pyright: ignore[reportAttributeAccessIssue] - it calls its 64 KiB a constant
"""As much as asyncio reads at once. Of it httpcore takes 64 KiB at a time, and the rest is copied each time: 0.2 s
of 6 for a million calls."""

_TORN = (httpx.RemoteProtocolError,)
_WORDS: Mapping[type[Exception], str] = {
    httpx.ConnectTimeout: "no connection in time",
    httpx.ReadTimeout: "no answer in time",
    httpx.WriteTimeout: "the request was not taken in time",
    httpx.PoolTimeout: "no free connection in time",
    httpx.ConnectError: "no connection",
    httpx.ReadError: "the connection broke",
    httpx.WriteError: "the connection broke",
    httpx.CloseError: "the connection broke",
    httpx.RemoteProtocolError: "the connection broke or the body was cut off",
    httpx.ProxyError: "the proxy refuses",
    TimeoutError: "the answer did not end in time",
}


class Wire:
    """Sends requests to one platform and brings their answers home whole."""

    def __init__(
        self, account: Account, limits: Limits, transport: Transport | None, pace: SharedPace | None = None
    ) -> None:
        self._pace = pace
        self._base_url = checked_base_url(account.base_url, allow_plain_http=account.allow_plain_http)
        self._open = _opener(self._base_url) if transport is None else lambda: transport
        self._idle = [self._open()]
        """The one used last comes first: it is the least likely to have been dropped."""
        self._seconds = limits.timeout_seconds
        self._extensions = {"timeout": httpx.Timeout(self._seconds).as_dict()}
        self._large = asyncio.Lock()

    async def close(self) -> None:
        """Close all connections."""
        for transport in self._idle:
            await transport.aclose()

    async def exchange(
        self, request: Request, headers: Mapping[str, str], asked: str, *, patience: float = math.inf
    ) -> tuple[int, dict[str, str], bytes]:
        """Send, and return status, headers (lower case) and body.

        A whole answer may take `patience` seconds: at least `timeout_seconds`, and at most `PATIENCE` times it.

        Raises:
            Unreachable: no connection, or no answer in time.
            TornAnswer: the answer broke off, cannot be decompressed, or has no end.
            RequestRefused: the address is longer than HTTP clients send.
        """
        async with self._pace.turn() if self._pace else nullcontext():
            deadline = min(PATIENCE * self._seconds, max(self._seconds, patience))
            return await self._exchange(request, headers, asked, deadline)

    async def _exchange(
        self, request: Request, headers: Mapping[str, str], asked: str, deadline: float
    ) -> tuple[int, dict[str, str], bytes]:
        transport = self._idle.pop() if self._idle else self._open()
        try:
            async with asyncio.timeout(deadline):
                message = httpx.Request(
                    request.method,
                    self._base_url + request.target,
                    headers=headers,
                    content=request.body,
                    extensions=self._extensions,
                )
                response = await transport.handle_async_request(message)
                received = _lower(response.headers)
                assert isinstance(response.stream, httpx.AsyncByteStream)
                try:
                    body = await read_body(
                        response.stream, received, largest=request.largest, large=self._large, asked=asked
                    )
                finally:
                    await response.aclose()
        except (httpx.RequestError, OSError) as error:
            _explain(error, asked)
        except httpx.InvalidURL:
            raise RequestRefused(f"{asked}: the address is too long to send", status=414) from None
        finally:
            self._idle.append(transport)
        return response.status_code, received, body


def _lower(headers: httpx.Headers) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers.raw}


def _explain(error: Exception, asked: str) -> NoReturn:
    """Raise ours for theirs. Their text is shown where nothing was sent yet that it might quote."""
    words = _WORDS.get(type(error), "the connection failed")
    kind = type(error).__name__
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        words = f"{words}: {redact(str(error))}"
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        raise ConfigurationError(f"{asked}: the request cannot be sent ({kind})") from None
    if isinstance(error, _TORN):
        raise TornAnswer(f"{asked}: {words} ({kind})") from None
    raise Unreachable(f"{asked}: {words} ({kind}); is partner.base_url right and the platform up?") from None


def _opener(base_url: str) -> Callable[[], Transport]:
    """Opens connections to the platform. Redirects are not followed."""
    # Without TLS no certificates are read, which takes longer than a request; else they are read once.
    trusted = httpx.create_ssl_context() if urlsplit(base_url).scheme == "https" else False
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_SECONDS)
    proxy = _proxy(base_url)

    def open_transport() -> Transport:
        try:
            return httpx.AsyncHTTPTransport(proxy=proxy, limits=limits, verify=trusted)
        except (ValueError, ImportError, httpx.InvalidURL):
            raise ConfigurationError(
                "the proxy that the environment names for partner.base_url cannot be used;"
                " expected an address like http://proxy.example.com:3128"
            ) from None

    return open_transport


def _proxy(base_url: str) -> str | None:
    """The proxy that the environment names for this address, as the operator's other tools would use it."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if is_this_machine(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"
