"""Measure a sync beside a platform whose lists send garbage, a gigabyte, or nothing for ever.

    python -m benchmarks.hostile [PRACTICES]

Prints how each list ended, the seconds, and the most memory of the process.
"""

import contextlib
import sys
import tempfile
import time
import zlib
from collections.abc import Generator
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from vetl.core.list_read import Practice
from vetl.jobs.sync import run_sync
from vetl.settings import Settings

HEAD = b'{"success": true, "message": null, "data": {"page": 0, "per_page": 100, "total_count": 100, "content": ['
TOKEN = b'{"success": true, "data": {"token": "t"}}'
MIB = 2**20


def _bomb() -> bytes:
    """Return the beginning of a gzip: a page of a list and 1 GiB of zeros, each MiB in the same bytes."""
    folding = zlib.compressobj(9, wbits=31)
    head = folding.compress(HEAD) + folding.flush(zlib.Z_FULL_FLUSH)
    return head + (folding.compress(bytes(MIB)) + folding.flush(zlib.Z_FULL_FLUSH)) * 1024


BOMB = _bomb()
LIAR = "loc-000"
"""The practice whose booking sessions are 10^15, of which none comes; those of others are none, and whole."""


class _Platform(BaseHTTPRequestHandler):
    """Each list is hostile in its own way, but for the booking sessions of most practices."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._send(TOKEN)

    def do_GET(self) -> None:
        with contextlib.suppress(ConnectionError):
            if "phone_calls" in self.path:
                self._endless(b"Date,Practice\n" * 1000)
            elif "appointments" in self.path:
                self._send(BOMB, coding="gzip")
            elif "staff_tasks" in self.path:
                self._send(HEAD + b"[]," * 2_500_000 + b"[]]}}")
            elif "ai_outbound" in self.path:
                time.sleep(3600)
            else:
                total = 10**15 if self.headers["X-Client-Id"] == LIAR else 0
                self._send(HEAD.replace(b'"total_count": 100', b'"total_count": %d' % total) + b"]}}")

    def _endless(self, piece: bytes) -> None:
        self._head(1024 * MIB)
        for _ in range(1024 * MIB // len(piece)):
            self.wfile.write(piece)

    def _send(self, body: bytes, coding: str = "") -> None:
        self._head(len(body), coding)
        self.wfile.write(body)

    def _head(self, size: int, coding: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(size))
        self.send_header("X-Total-Count", "0")
        if coding:
            self.send_header("Content-Encoding", coding)
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing."""


@contextlib.contextmanager
def served() -> Generator[str]:
    """Serve such a platform, and return its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Platform)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def settings_for(base_url: str, folder: Path, practices: int, timeout_seconds: float = 2) -> Settings:
    """Return settings of so many practices at this address, with a warehouse in the folder."""
    partner = {"base_url": base_url, "username": "u", "password": "p", "role": "r"}
    return Settings.model_validate(
        {
            "partner": {**partner, "timeout_seconds": timeout_seconds, "max_run_seconds": 60},
            "warehouse": {"path": folder / "vetl.duckdb", "published": folder / "analytics.duckdb"},
            "practices": [
                Practice(f"loc-{number:03}", f"Practice {number}", "America/New_York", date(2026, 1, 1))
                for number in range(practices)
            ],
        }
    )


def main(practices: int = 12) -> None:
    """Sync so many practices once, and print the result."""
    with served() as base_url, tempfile.TemporaryDirectory() as folder:
        settings = settings_for(base_url, Path(folder), practices)
        started = time.perf_counter()
        result = run_sync(settings, practices=None, endpoints=None, since=None, progress=lambda _event: None)
        seconds = time.perf_counter() - started
    for item in result.results[:7]:
        print(f"{item.endpoint:18}{item.state:14}{item.reason}")
    memory = next(line for line in Path("/proc/self/status").read_text("utf-8").splitlines() if "VmHWM" in line)
    print(f"{practices} practices, {seconds:.0f} s, {int(memory.split()[1]) // 1024} MiB with this server")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
