"""Headers of every answer: no foreign page frames the dashboard, and its pages fetch no foreign picture."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "frame-ancestors 'self'; img-src 'self' data: blob:; media-src 'self' data: blob:; object-src 'none';"
        " base-uri 'self'; form-action 'self'"
    ),
    "X-Frame-Options": "SAMEORIGIN",  # for proxies and browsers that know no frame-ancestors
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # an address names practices
}


class SafeHeaders:
    """Add the headers to each answer over HTTP; a web socket has none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of the server."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
