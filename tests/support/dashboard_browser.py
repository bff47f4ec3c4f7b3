"""A dashboard as `vetl dashboard` serves it, and the browser that shows it."""

import os
import re
import shutil
import socket
import socketserver
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

from playwright.sync_api import Page
from support.processes import answers, free_port, until

Visit = Callable[..., Page]
LAST_LINE = re.compile(r"^(Complete until .*, f|Read f)rom ")


@dataclass(frozen=True)
class Dashboard:
    address: str
    file: Path

    def serves(self, url: str) -> bool:
        """Return whether a request stays with this dashboard, or in the browser."""
        return url.startswith((self.address, self.address.replace("http", "ws"), "data:", "blob:"))


@contextmanager
def serving(published: Path, folder: Path, **environment: str) -> Generator[Dashboard]:
    """Run `vetl dashboard` on a copy of the file, in a folder of its own."""
    file = Path(shutil.copy(published, folder / "analytics.duckdb"))
    port = free_port()
    (folder / "vetl.toml").write_text(f'[warehouse]\npublished = "analytics.duckdb"\n[dashboard]\nport = {port}\n')
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "vetl", "dashboard"],
        cwd=folder,
        env={**clean, **environment},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}"
    try:
        answered(f"{address}/_stcore/health", process)
        yield Dashboard(address, file)
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def signed_in(dashboard: Dashboard, header: str) -> Generator[Dashboard]:
    """Run a proxy that adds a header to each request, also to the web socket's, because no browser can do that."""
    target = ("localhost", int(dashboard.address.rpartition(":")[2]))

    class Through(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(target) as server, suppress(OSError):
                Thread(target=self._back, args=[server], daemon=True).start()
                while data := self.request.recv(65536):
                    server.sendall(data.replace(b"\r\nHost:", f"\r\n{header}\r\nHost:".encode(), 1))

        def _back(self, server: socket.socket) -> None:
            with suppress(OSError):
                while data := server.recv(65536):
                    self.request.sendall(data)
            # Also after a reset: the server may close an idle connection while the browser sends on it, and the
            # browser, which repeats such a request, would wait for its answer for ever.
            with suppress(OSError):
                self.request.shutdown(socket.SHUT_RDWR)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Through) as proxy:
        proxy.daemon_threads = True
        Thread(target=proxy.serve_forever, daemon=True).start()
        yield replace(dashboard, address=f"http://localhost:{proxy.server_address[1]}")
        proxy.shutdown()


def answered(url: str, process: "subprocess.Popen[Any]") -> None:
    """Return once a starting process answers; fail once it has ended."""
    until(url, lambda: process.poll() is not None or answers(url), seconds=90)
    assert process.poll() is None, f"{url} did not answer; exit code {process.poll()}"


def drawn(page: Page, title: str | None = None) -> Page:
    """Return the page once all of it is there; `title` is its heading if it was reached from another page."""
    page.get_by_role("heading", level=1, name=title, exact=True).wait_for()
    page.get_by_test_id("stMain").get_by_text(LAST_LINE).wait_for()
    page.wait_for_function(
        """document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'
           && !document.querySelector(
             '[data-testid=stMain] :is([data-stale=true], [data-testid=stSkeleton])')"""
    )
    return page


def figures(page: Page) -> list[str]:
    return page.get_by_test_id("stMetricValue").all_inner_texts()
