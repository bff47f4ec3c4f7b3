"""The receiver on a socket: `vetl webhooks serve` as an operator starts it, or a test's own application."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from starlette.applications import Starlette
from support.deliveries import SECRET, Payload, body_of, signed
from vetl.addons.webhooks.job import http_server, listening
from vetl.receiving.inbox import Entry

ROOT = Path(__file__).resolve().parents[2]
INBOX = "warehouse/data/inbox.sqlite"


class ReceiverProcess:
    """A receiver in a folder of its own; as a context manager it ends the process. `log` is its output so far."""

    def __init__(self, folder: Path, secrets: str = SECRET) -> None:
        self.folder = folder
        self._log = (folder / "receiver.log").open("a")
        (folder / "vetl.toml").touch()
        environment = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
        command = [sys.executable, "-m", "vetl", "webhooks", "serve", "--port", "0", "--json"]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**environment, "VETL_WEBHOOKS__SECRETS": secrets},
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log
        self.url: str = json.loads(line)["base_url"]
        self.address = urlsplit(self.url).netloc

    @property
    def inbox(self) -> Path:
        return self.folder / INBOX

    @property
    def log(self) -> str:
        return (self.folder / "receiver.log").read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def connection(self) -> HTTPConnection:
        return HTTPConnection(self.address, timeout=60)

    def send(self, payload: Payload | bytes, channel: str = "messages", secret: str = SECRET) -> int:
        """Deliver as the platform does; return the answer's status."""
        body = payload if isinstance(payload, bytes) else body_of(payload)
        return self._asked("POST", f"/webhooks/{channel}", body, signed(body, secret))[0]

    def get(self, path: str) -> tuple[int, str]:
        return self._asked("GET", path, b"", {})

    def _asked(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
        with closing(self.connection()) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

    def _end(self, how: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._log.close()


class HeldInbox:
    """An inbox without a file, whose commits wait for `go`; it counts the deliveries of each."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.begun = threading.Event()
        self.go = threading.Event()

    def keep(self, entries: Sequence[Entry]) -> list[bool]:
        self.batches.append(len(entries))
        self.begun.set()
        assert self.go.wait(60)
        return [True] * len(entries)

    def probe(self) -> None:
        assert self.go.wait(60)


@contextmanager
def served(app: Starlette, proxies: Sequence[str] = ()) -> Generator[str]:
    """Run an application on a real socket of this process, and return its address."""
    with listening("127.0.0.1", 0) as listener:
        server = http_server(app, proxies)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
