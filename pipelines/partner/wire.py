"""Bytes over HTTP. The one module that imports httpx.

It speaks to httpx's transport instead of `httpx.AsyncClient`: redirects, cookies and stored authentication
are not wanted here, and without them a request costs a quarter less.
"""

import asyncio
from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from pipelines.errors import ConfigurationError, RequestRefused, TornAnswer, Unreachable
from pipelines.partner.account import Limits, checked_base_url
from pipelines.partner.hiding import fit_to_show
from pipelines.partner.protocol import Request

Transport = httpx.AsyncBaseTransport

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes, decompressed. A page of 5000 calls is about 1.3 MB."""

PATIENCE = 10
"""A whole answer may take this many times `timeout_seconds`, however steadily it drips."""

IDLE_SECONDS = 3.0
"""After which a connection is not used again: many servers drop theirs after five."""

_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
_TORN = (httpx.RemoteProtocolError, httpx.DecodingError)
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
    httpx.DecodingError: "the body cannot be decompressed",
    httpx.ProxyError: "the proxy refuses",
    TimeoutError: "the answer did not end in time",
}


class Wire:
    """Sends requests to one platform and brings their answers home whole."""

    def __init__(self, base_url: str, limits: Limits, transport: Transport | None) -> None:
        self._base_url = checked_base_url(base_url)
        self._transport = transport or _open_transport(self._base_url, limits)
        seconds = limits.timeout_seconds
        self._extensions = {"timeout": httpx.Timeout(seconds).as_dict()}
        self._deadline = PATIENCE * seconds

    async def close(self) -> None:
        """Close all connections."""
        await self._transport.aclose()

    async def exchange(
        self, request: Request, headers: Mapping[str, str], asked: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Send, and return status, headers (lower case) and body.

        Raises:
            Unreachable: no connection, or no answer in time.
            TornAnswer: the answer broke off, cannot be decompressed, or has no end.
            RequestRefused: the address is longer than HTTP clients send.
        """
        try:
            async with asyncio.timeout(self._deadline):
                message = httpx.Request(
                    request.method,
                    self._base_url + request.target,
                    headers=headers,
                    content=request.body,
                    extensions=self._extensions,
                )
                response = await self._transport.handle_async_request(message)
                try:
                    body = await _read(response, asked)
                finally:
                    await response.aclose()
        except (httpx.RequestError, OSError) as error:
            _explain(error, asked)
        except httpx.InvalidURL:
            raise RequestRefused(f"{asked}: the address is too long to send", status=414) from None
        return response.status_code, _lower(response.headers), body


async def _read(response: httpx.Response, asked: str) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > LARGEST_BODY:
            raise TornAnswer(f"{asked}: the answer is larger than {LARGEST_BODY // 2**20} MiB")
        chunks.append(chunk)
    return b"".join(chunks)


def _lower(headers: httpx.Headers) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers.raw}


def _explain(error: Exception, asked: str) -> NoReturn:
    """Raise ours for theirs. Their text is shown where nothing was sent yet that it might quote."""
    words = _WORDS.get(type(error), "the connection failed")
    kind = type(error).__name__
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        words = f"{words}: {fit_to_show(str(error))}"
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        raise ConfigurationError(f"{asked}: the request cannot be sent ({kind})") from None
    if isinstance(error, _TORN):
        raise TornAnswer(f"{asked}: {words} ({kind})") from None
    raise Unreachable(f"{asked}: {words} ({kind}); is partner.base_url right and the platform up?") from None


def _open_transport(base_url: str, limits: Limits) -> Transport:
    total = limits.max_in_flight_total
    pool = httpx.Limits(max_connections=total, max_keepalive_connections=total, keepalive_expiry=IDLE_SECONDS)
    try:
        # Without TLS no certificates are read, which takes longer than a request. Redirects are not followed.
        return httpx.AsyncHTTPTransport(
            proxy=_proxy(base_url), limits=pool, verify=urlsplit(base_url).scheme == "https"
        )
    except (ValueError, ImportError, httpx.InvalidURL):
        raise ConfigurationError(
            "the proxy that the environment names for partner.base_url cannot be used;"
            " expected an address like http://proxy.example.com:3128"
        ) from None


def _proxy(base_url: str) -> str | None:
    """The proxy that the environment names for this address, as the operator's other tools would use it."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if host in _THIS_MACHINE or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"
