"""The sandbox at size: `python -m benchmarks.sandbox [--practices 500] [--calls 10000000] [--seconds 5]`.

It serves a large world, has every practice's calls and other lists drawn, and prints the time and the server's
peak memory. Then it requests CSV pages, eight in flight, with a client that drops the bodies: ready pages, and
pages that are rendered each time. Beside the rows of a second it prints the rows that a second of the server's own
CPU would give, which does not depend on other work on the machine.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

ROOT = "/services/core/open_api/v1"
SIGN_IN = "/services/user/v1/auth/sign-in"
OTHERS = ("booking_sessions", "appointments", "ai_outbound/requests", "staff_tasks")
PAGE, IN_FLIGHT = 5000, 8
_LINE = "{:44}{:>14}"


class Client:
    """One connection that stays open."""

    def __init__(self, greeting: dict[str, Any]) -> None:
        self._connection = http.client.HTTPConnection(greeting["base_url"].removeprefix("http://"), timeout=600)
        credentials = {name: greeting[name] for name in ("username", "password", "role")}
        body, _ = self.ask("POST", SIGN_IN, {"Content-Type": "application/json"}, json.dumps(credentials))
        self._token = json.loads(body)["data"]["token"]

    def get(self, path: str, practice_id: str) -> tuple[bytes, http.client.HTTPMessage]:
        """Return the body and headers of an answer, which must be a 200."""
        return self.ask("GET", ROOT + path, {"Authorization": f"Bearer {self._token}", "X-Client-Id": practice_id})

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: str | None = None
    ) -> tuple[bytes, http.client.HTTPMessage]:
        """Send any request and return its answer."""
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        read = answer.read()
        if answer.status != http.client.OK:
            raise RuntimeError(f"{path}: {answer.status} {read[:200]!r}")
        return read, answer.headers


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--practices", type=int, default=500)
    parser.add_argument("--calls", type=int, default=10_000_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    sizes = [f"--{name}={getattr(given, name)}" for name in ("practices", "calls", "days")]
    began = time.monotonic()
    with _served(*sizes) as (process, greeting):
        _say("ready after", f"{time.monotonic() - began:.1f} s")
        _draw(greeting, process.pid, began)
    with _served("--practices=1", "--days=60", "--calls=200000") as (process, greeting):
        # Request the same few pages again and again, or a page of another range each time.
        reader = Reader(greeting, process.pid, given.seconds)
        _csv("CSV, pages that are ready", reader, lambda n: f"page={n % IN_FLIGHT}")
        _csv("CSV, each page rendered", reader, lambda n: f"page={n % 30}&unread={n}")
        _json("JSON, 100 calls a page, rendered", reader)


@contextmanager
def _served(*arguments: str) -> Generator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    command = [sys.executable, "-m", "vetl_sandbox", "--json", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - this interpreter
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()


def _draw(greeting: dict[str, Any], pid: int, began: float) -> None:
    client = Client(greeting)
    practices = [practice["id"] for practice in greeting["practices"]]
    calls = sum(
        int(client.get(f"/phone_calls?format=csv&per_page={PAGE}", practice)[1]["X-Total-Count"])
        for practice in practices
    )
    _say(f"{calls:,} calls of {len(practices)} practices drawn after", f"{time.monotonic() - began:.1f} s")
    _say("memory at most", f"{_peak(pid):.2f} GiB")
    for name in OTHERS:
        for practice in practices:
            client.get(f"/{name}?per_page=100&start_date=2000-01-01", practice)
    _say("all five lists asked for after", f"{time.monotonic() - began:.1f} s")
    _say("memory at most", f"{_peak(pid):.2f} GiB")


@dataclass(frozen=True)
class Reader:
    """Requests pages during some seconds, several in flight, and drops them."""

    greeting: dict[str, Any]
    pid: int
    seconds: float

    def pages(self, path: Callable[[int], str]) -> tuple[int, float]:
        """Return how many pages came, and the seconds of CPU that they took the server."""
        practice = self.greeting["practices"][0]["id"]
        numbers, done = count(), [0] * IN_FLIGHT
        clients = [Client(self.greeting) for _ in range(IN_FLIGHT)]
        for client in clients:
            client.get(path(next(numbers)), practice)
        began, until = _cpu(self.pid), time.monotonic() + self.seconds

        def drop(place: int) -> None:
            while time.monotonic() < until:
                clients[place].get(path(next(numbers)), practice)
                done[place] += 1

        threads = [threading.Thread(target=drop, args=(place,)) for place in range(IN_FLIGHT)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(done), _cpu(self.pid) - began


def _csv(label: str, reader: Reader, query: Callable[[int], str]) -> None:
    pages, cpu = reader.pages(lambda n: f"/phone_calls?format=csv&per_page={PAGE}&{query(n)}")
    _say(label, f"{pages * PAGE / reader.seconds:,.0f} rows/s")
    _say("  a second of the server's CPU", f"{pages * PAGE / cpu:,.0f} rows")


def _json(label: str, reader: Reader) -> None:
    pages, cpu = reader.pages(lambda n: f"/phone_calls?per_page=100&page={n % 1000}&unread={n}")
    _say(label, f"{1000 * reader.seconds / pages:.1f} ms each")
    _say("  the server's CPU", f"{1000 * cpu / pages:.1f} ms each")


def _cpu(pid: int) -> float:
    """Return the seconds of CPU of a process, in its own code and the system's."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 2**20


def _say(label: str, value: str) -> None:
    print(_LINE.format(label, value), flush=True)


if __name__ == "__main__":
    main()
