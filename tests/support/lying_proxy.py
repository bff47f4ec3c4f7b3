"""A door before the sandbox that changes what lists tell: totals that lie, ids that never stay."""

import json
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

Change = Callable[[str, dict[str, Any]], None]
"""Given the path and the page (`data` of a list's envelope); may change the page."""

PASSED_ON = ("Content-Type", "Date", "X-Total-Count", "X-Page", "X-Per-Page", "Retry-After")


@contextmanager
def lying(
    base_url: str, change: Change, before: Callable[[], AbstractContextManager[object]] = nullcontext
) -> Generator[str]:
    """The address of a server that hands on what `base_url` answers, changed; `before` is around each answer."""
    behind = urlsplit(base_url)

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._hand_on()

        def do_POST(self) -> None:
            self._hand_on()

        def _hand_on(self) -> None:
            with before():
                self._ask_and_answer()

        def _ask_and_answer(self) -> None:
            connection = HTTPConnection(behind.hostname or "", behind.port)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            sent = {name: value for name, value in self.headers.items() if name.lower() != "accept-encoding"}
            connection.request(self.command, self.path, body, sent)
            answer = connection.getresponse()
            content = _changed(self.path, answer.read(), change)
            self.send_response_only(answer.status)
            for name in PASSED_ON:
                if (value := answer.getheader(name)) is not None:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
            connection.close()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _changed(path: str, body: bytes, change: Change) -> bytes:
    try:
        envelope = json.loads(body)
        page = envelope["data"]
        isinstance(page["content"], list)
    except (ValueError, KeyError, TypeError):
        return body
    change(path, page)
    return json.dumps(envelope).encode()
