"""Processes of a deployment: started on ports of their own, waited for, and ended."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

PATIENCE = 400
"""Seconds until an expected event must have happened."""


def until(what: str, holds: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Return the first true value that `holds` returns."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := holds():
            return result
        time.sleep(0.05)
    return pytest.fail(f"{what}: not after {seconds} s")


def free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def listens(port: int) -> bool:
    """Return whether a process of this machine accepts connections there."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
    except OSError:
        return False
    return True


def answers(address: str) -> bool:
    try:
        with urlopen(address) as answer:
            return answer.status == 200
    except (URLError, ConnectionError):
        return False


def graphql(pages: str, query: str, **variables: Any) -> Any:
    """Return the answer of Dagster's pages to a query that they accept."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = Request(f"{pages}/graphql", body, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        document = json.load(answer)
    assert "errors" not in document, document
    return document["data"]


def _say_nothing(*_: object) -> None: ...


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # with 5, the sixth of some connections at once waits a second


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Generator[str]:
    """Serve HTTP on a free port of this machine without a word, and return the address."""
    # Head and body are two writes: the second would wait 40 ms for the acknowledgement of the first.
    quiet = type("Quiet", (handler,), {"log_message": _say_nothing, "disable_nagle_algorithm": True})
    with _Server(("127.0.0.1", 0), quiet) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def running(
    command: Sequence[str], folder: Path, environment: dict[str, str]
) -> Generator["subprocess.Popen[bytes]"]:
    """Run a process with a log of its own, in a group of its own that ends with it."""
    with (folder / f"{Path(command[0]).name}-{free_port()}.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


@contextmanager
def holding(code: str, *arguments: object) -> Generator["subprocess.Popen[str]"]:
    """Run Python code that says `held` and waits for the end of its input; in the end it is killed."""
    with subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@contextmanager
def postgres(folder: Path, port: int, *, inside: int | None = None) -> Generator[None]:
    """Run Debian's server, in the network of the process `inside` if given.

    It refuses to run as root, so its files are in a folder that its user may enter.
    """
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    network = ["nsenter", f"--net=/proc/{inside}/ns/net"] if inside else []
    with TemporaryDirectory(dir="/tmp", ignore_cleanup_errors=True) as data:
        password = Path(data) / "password"
        password.write_text("secret")
        if user:
            shutil.chown(data, "postgres")
            shutil.chown(password, "postgres")
        init = ["--username=dagster", "--auth=scram-sha-256", f"--pwfile={password}", f"--pgdata={data}/db"]
        subprocess.run([*user, str(programs / "initdb"), *init], check=True, capture_output=True, cwd="/")
        switches = ["listen_addresses=127.0.0.1", f"unix_socket_directories={data}", "fsync=off"]
        server = [str(programs / "postgres"), "-D", f"{data}/db", "-p", str(port)]
        ready = [*network, str(programs / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
        command = [*network, *user, *server, *(part for one in switches for part in ("-c", one))]
        with running(command, folder, dict(os.environ)):
            until("Postgres", lambda: subprocess.run(ready, capture_output=True, check=False).returncode == 0)
            yield
