"""The webhook receiver under load: `python -m benchmarks.webhooks [--seconds 10] [--senders 64 256]`.

It measures deliveries a second with every 200 on disk, against SQLite that commits one row at a time there.
"""

import argparse
import asyncio
import hashlib
import hmac
import json
import os
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

SECRET = "benchmark"  # noqa: S105 - a made-up secret


@dataclass
class Load:
    """The observations of the senders."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0

    def percentile(self, share: float) -> float:
        """Return the milliseconds that this share of the requests did not exceed."""
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--senders", type=int, nargs="+", default=[64, 256], help="connections, one run each")
    parser.add_argument("--folder", type=Path, default=Path(), help="on the disk to measure")
    given = parser.parse_args()
    print(f"load of the machine      {os.getloadavg()[0]:10.1f}")
    for senders in given.senders:
        with TemporaryDirectory(dir=given.folder) as folder:
            # Measured before and after, because other work on the machine comes and goes.
            before = plain_commits(Path(folder), given.seconds / 4)
            load = under_load(Path(folder), given.seconds, senders)
            plain = (before + plain_commits(Path(folder), given.seconds / 4)) / 2
            print(f"connections              {senders:10}")
            print(f"plain SQLite commits     {plain:10,.0f} /s")
            print_load(load, given.seconds, plain)


def plain_commits(folder: Path, seconds: float) -> float:
    """Return the rows a second that SQLite commits one by one, in the receiver's own mode."""
    connection = sqlite3.connect(folder / "plain.sqlite", isolation_level=None)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = full")
    connection.execute("create table if not exists rows (number integer primary key, body blob)")
    body, started, done = request_body("m-0"), time.perf_counter(), 0
    while time.perf_counter() - started < seconds:
        connection.execute("insert into rows (body) values (?)", [body])
        done += 1
    connection.close()
    return done / seconds


def under_load(folder: Path, seconds: float, senders: int) -> tuple[Load, float, float]:
    """Send load for so long; return it with the receiver's CPU seconds and peak memory in MiB."""
    process, address = started_receiver(folder)
    load = Load()
    asyncio.run(senders_at_work(address, senders, load, time.perf_counter() + seconds))
    process.terminate()
    _, _, used = os.wait4(process.pid, 0)
    return load, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def print_load(measured: tuple[Load, float, float], seconds: float, plain: float) -> None:
    """Print one figure a line."""
    load, cpu, peak = measured
    rate = len(load.seconds) / seconds
    print(f"deliveries, each durable {rate:10,.0f} /s, {rate / plain:.1f} times as many; {load.refused} refused")
    print(f"latency                  {load.percentile(0.5):10.1f} ms median, {load.percentile(0.99):.1f} ms p99")
    print(f"receiver's CPU           {1e6 * cpu / len(load.seconds):10.0f} µs a delivery, its start included")
    print(f"receiver's peak memory   {peak:10.0f} MiB")


async def senders_at_work(address: str, senders: int, load: Load, end: float) -> None:
    """Send over several connections, each with one delivery after the other, until this time."""
    host, port = address.rsplit(":", 1)
    numbers = count()

    async def sender() -> None:
        reader, writer = await asyncio.open_connection(host, int(port))
        while time.perf_counter() < end:
            await deliver(reader, writer, load, f"m-{next(numbers)}", host)
        writer.close()

    await asyncio.gather(*(sender() for _ in range(senders)))


async def deliver(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, load: Load, identity: str, host: str
) -> None:
    """Send one delivery, over a connection that stays open."""
    body = request_body(identity)
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    head = (
        f"POST /webhooks/messages HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        f"X-Webhook-Signature: {signature}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    begun = time.perf_counter()
    writer.write(head.encode() + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    await reader.readexactly(length)
    if answer.startswith(b"HTTP/1.1 200"):
        load.seconds.append(time.perf_counter() - begun)
    else:
        load.refused += 1


def request_body(identity: str) -> bytes:
    """Return the body of a message status webhook of the usual size."""
    payload = {
        "id": identity,
        "status": "delivered",
        "event": "message.delivered",
        "event_id": f"event-{identity}",
        "reference_id": f"reference-{identity}",
        "channel_requested": "auto",
        "channel_used": "rcs",
        "client_id": "client-1",
        "sent_at": "2026-03-01T10:00:00Z",
        "delivered_at": "2026-03-01T10:00:05Z",
        "created_at": "2026-03-01T10:00:00Z",
        "clinic_id": "loc-001",
        "occurred_at": "2026-03-01T10:00:05Z",
        "timestamp": "2026-03-01T10:00:06Z",
    }
    return json.dumps(payload).encode()


def started_receiver(folder: Path) -> tuple["subprocess.Popen[str]", str]:
    """Start `vetl webhooks serve` in a folder; return it with its host and port once it answers."""
    (folder / "vetl.toml").touch()
    process = subprocess.Popen(
        [sys.executable, "-m", "vetl", "webhooks", "serve", "--port", "0", "--json"],
        cwd=folder,
        env={**os.environ, "VETL_WEBHOOKS__SECRETS": SECRET},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, urlsplit(json.loads(process.stdout.readline())["base_url"]).netloc


if __name__ == "__main__":
    main()
