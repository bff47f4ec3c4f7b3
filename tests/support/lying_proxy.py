"""A proxy before the sandbox that changes lists: false totals, unstable ids; or the clock."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from support.processes import serving

Change = Callable[[str, dict[str, Any]], None]
"""A function of the path and the page (`data` of a list's envelope); it may change the page."""

Instead = Callable[[str, str], tuple[int, dict[str, Any]] | None]
"""A function of the path and the `Authorization` header; it may answer with a status and an envelope by itself."""

FAILED = b'{"success": false, "message": "Internal server error"}'
PASSED_ON = ("Content-Type", "Date", "X-Total-Count", "X-Page", "X-Per-Page", "Retry-After")


@contextmanager
def lying(
    base_url: str,
    change: Change = lambda _path, _page: None,
    *,
    instead: Instead = lambda _path, _authorization: None,
    dated: Callable[[str], str] = lambda date: date,
    spoiled: Callable[[dict[str, Any]], None] = lambda _row: None,
    rewritten: Callable[[str], str] = lambda text: text,
    practice: str | None = None,
    broken: Callable[[str], bool] = lambda _content: False,
) -> Generator[str]:
    """Serve the answers of `base_url` with changes, and return the address.

    `dated` makes the `Date` header of an answer from the true one; `spoiled` changes a row or a record in place,
    and `rewritten` makes a CSV from the true one, both for one practice or for all. A `broken` content is answered
    with 500.
    """
    behind = urlsplit(base_url)

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            own = instead(self.path, self.headers.get("Authorization", ""))
            if own is not None:
                self._answer(own[0], {"Content-Type": "application/json"}, json.dumps(own[1]).encode())
                return
            connection = HTTPConnection(behind.hostname or "", behind.port)
            sent = {name: value for name, value in self.headers.items() if name.lower() != "accept-encoding"}
            connection.request(self.command, self.path, body, sent)
            answer = connection.getresponse()
            content = answer.read()
            if practice in (None, self.headers.get("X-Client-Id")):
                is_csv = answer.getheader("Content-Type", "").startswith("text/csv")
                content = (
                    rewritten(content.decode()).encode(errors="surrogatepass")
                    if is_csv
                    else _changed(self.path, content, change, spoiled)
                )
            connection.close()
            if broken(content.decode(errors="replace")):
                self._answer(500, {"Content-Type": "application/json", "Date": answer.headers["Date"]}, FAILED)
                return
            passed = {name: value for name in PASSED_ON if (value := answer.getheader(name)) is not None}
            self._answer(answer.status, {**passed, "Date": dated(passed["Date"])}, content)

        def _answer(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.send_response_only(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 - its name in the base class

    with serving(Door) as address:
        yield address


def _changed(path: str, body: bytes, change: Change, spoiled: Callable[[dict[str, Any]], None]) -> bytes:
    try:
        envelope = json.loads(body)
        page = envelope["data"]
        rows = page.get("content", [page] if "id" in page else None)
    except (ValueError, KeyError, AttributeError):
        return body
    if rows is None:
        return body
    if "content" in page:
        change(path, page)
    for row in rows:
        spoiled(row)
    return json.dumps(envelope).encode()
