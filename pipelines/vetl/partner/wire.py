"""Send bytes over HTTP; the only module that imports httpx.

It uses httpx's transports instead of `httpx.AsyncClient`, because vetl needs neither redirects nor cookies nor
stored authentication, and a request costs a quarter less without them. Each transport is one connection: a pool of
32 connections checks all of them for every request, which costs 2.6 ms of CPU per request instead of 0.8 ms.
"""

import asyncio
import math
import os
import ssl
from collections.abc import Callable, Mapping
from typing import NoReturn
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from vetl.core.errors import ConfigurationError, RequestRefused, TooSlow, TornAnswer, Unreachable, Untrusted
from vetl.core.text import is_this_machine
from vetl.partner.account import Account
from vetl.partner.answers import read_body, redact
from vetl.partner.limits import Limits
from vetl.partner.protocol import Request

Transport = httpx.AsyncBaseTransport

PATIENCE = 10
"""A whole answer may take at most this many times `timeout_seconds`, even if bytes arrive steadily."""

IDLE_SECONDS = 3.0
"""Seconds after which an idle connection is not used again, because many servers close theirs after five."""

httpcore.AsyncHTTP11Connection.READ_NUM_BYTES = 256 * 1024  # pyright: ignore[reportAttributeAccessIssue] - a constant of httpcore
"""The number of bytes that asyncio reads at once. By default httpcore takes 64 KiB of them at a time and copies
the rest each time, which costs 0.2 s of 6 s for a million calls."""

UNTRUSTED = "certificate verify failed: "
"""The beginning of OpenSSL's reason why a certificate is not trusted."""

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
    """Connections to one platform that exchange requests for complete answers."""

    def __init__(self, account: Account, limits: Limits, transport: Transport | None) -> None:
        self._base_url = _checked(account)
        self._open = _opener(self._base_url) if transport is None else lambda: transport
        self._idle = [self._open()]
        """Idle connections; the last used one is used first, because the server has hardly closed it yet."""
        self._seconds = limits.timeout_seconds
        self._extensions = {"timeout": httpx.Timeout(self._seconds).as_dict()}

    async def close(self) -> None:
        """Close all connections."""
        for transport in self._idle:
            await transport.aclose()

    async def exchange(
        self, request: Request, headers: Mapping[str, str], label: str, *, patience: float = math.inf
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request; return the status, the headers in lower case, and the body.

        A whole answer may take `patience` seconds, but at least `timeout_seconds` and at most `PATIENCE` times
        that. Raise `Unreachable` if there is no connection, or no answer in time; `TornAnswer` if the answer is
        cut off, cannot be decompressed, or has no end; `RequestRefused` if the address is too long for HTTP
        clients.
        """
        deadline = min(PATIENCE * self._seconds, max(self._seconds, patience))
        transport = self._idle.pop() if self._idle else self._open()
        is_whole = False
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
                raw = response.headers.raw
                received = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}
                assert isinstance(response.stream, httpx.AsyncByteStream)
                try:
                    body = await read_body(response.stream, received, largest=request.largest, label=label)
                finally:
                    await response.aclose()
            is_whole = True
        except (httpx.RequestError, OSError) as error:
            _explain(error, label)
        except httpx.InvalidURL:
            raise RequestRefused(f"{label}: the address is too long to send", status=414) from None
        finally:
            # After a cancelled request httpcore may count its connection as in use for ever (`PoolTimeout`).
            if is_whole:
                self._idle.append(transport)
            else:
                await transport.aclose()
        return response.status_code, received, body


def _checked(account: Account) -> str:
    """Return the base URL of the platform without its trailing slash.

    Raise `ConfigurationError` if it is not an http(s) address, it has credentials, a query or a fragment, or it is
    plain http to another machine. Credentials would override the bearer token, a query would become part of the
    path, and plain http would send the password in clear. The message shows no part of the address.
    """
    try:
        parts = urlsplit(account.base_url)
        plain = parts.port is None or parts.port > 0
    except ValueError:
        parts, plain = urlsplit(""), False
    unwanted = parts.username or parts.password or parts.query or parts.fragment
    if not plain or parts.scheme not in ("http", "https") or not parts.hostname or unwanted:
        raise ConfigurationError(
            "partner.base_url: expected an address like https://platform.example.com,"
            " without user, password, query or fragment"
        )
    if parts.scheme == "http" and not is_this_machine(parts.hostname) and not account.allow_plain_http:
        raise ConfigurationError(
            "partner.base_url: plain http would send the password and all answers in clear to another machine; use"
            " https, or set allow_plain_http = true in [partner] if the network itself is private"
        )
    return account.base_url.rstrip("/")


def _explain(error: Exception, label: str) -> NoReturn:
    """Raise vetl's error for an error of httpx."""
    # The text of an error may quote the request, so it is shown only if nothing was sent yet.
    words = _WORDS.get(type(error), "the connection failed")
    kind = type(error).__name__
    if UNTRUSTED in str(error):
        reason = redact(str(error).partition(UNTRUSTED)[2].partition(" (_ssl")[0])
        raise Untrusted(
            f"{label}: the certificate of the platform is not trusted ({reason}); if an authority of your own"
            " signed it, name its file in the environment variable SSL_CERT_FILE"
        ) from None
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        words = f"{words}: {redact(str(error).replace('_', ' '))}"
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        raise ConfigurationError(f"{label}: the request cannot be sent ({kind})") from None
    if isinstance(error, _TORN):
        raise TornAnswer(f"{label}: {words} ({kind})") from None
    unreachable = TooSlow if isinstance(error, httpx.ReadTimeout | TimeoutError) else Unreachable
    raise unreachable(f"{label}: {words} ({kind}); is partner.base_url right and the platform up?") from None


def _opener(base_url: str) -> Callable[[], Transport]:
    """Return a function that opens connections to the platform."""
    # Certificates are read once, and only for TLS, because that takes longer than a request.
    trusted = _trusted() if urlsplit(base_url).scheme == "https" else False
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


def _trusted() -> ssl.SSLContext:
    """Return the authorities of the system, or of the file or folder that the environment names."""
    try:
        return httpx.create_ssl_context()
    except OSError as error:  # also an `SSLError`: the file has no certificate
        name = "SSL_CERT_FILE" if os.environ.get("SSL_CERT_FILE") else "SSL_CERT_DIR"
        why = "has no certificate" if isinstance(error, ssl.SSLError) else error.strerror or "cannot be read"
        raise ConfigurationError(
            f"{name}: the certificates of trusted authorities cannot be read: {why}"
        ) from None


def _proxy(base_url: str) -> str | None:
    """Return the proxy of the environment for this address, which other programs use, too."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if is_this_machine(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"
