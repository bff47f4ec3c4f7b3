"""A platform that only returns ready pages, so that the benchmark measures the reader.

Calls: one practice, 1,900 a day until yesterday, as CSV. Appointments: spread evenly over `updated_at`, as JSON.
The pages are real answers to the requested windows; rendering is done beforehand, by day or by row, and the parts
are joined on request. `more` lets an hour pass, in which the first practice gets calls.
"""

import asyncio
import bisect
import json
import random
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import parse_qs

import uvicorn

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
A_DAY = 1900
"""Calls."""
FIRST = "loc-001"
"""The practice that gets more calls."""
HEADER = (
    b"Date,Practice,Direction,Status,Caller Type,Client,Patient,Phone Number,Intent,Booking Intent,Summary,"
    b"Sentiment,Outcome,Booked,Duration\n"
)
Scope = dict[str, object]
Send = Callable[[dict[str, object]], Awaitable[None]]


@dataclass(frozen=True)
class Ready:
    """Rendered rows. `call_days` are the CSV rows of each day since `start`; appointments have an `updated_at`."""

    start: date

    call_days: list[list[bytes]]
    appointment_times: list[datetime]
    appointments: list[bytes]


def first_day(calls: int) -> date:
    """Return the day of the first of so many calls."""
    return NOW.date() - timedelta(days=max(1, -(-calls // A_DAY)))


def render(calls: int, appointments: int, seed: int = 1) -> Ready:
    """Render all rows of a world of that size."""
    rng = random.Random(seed)
    return Ready(first_day(calls), _calls(rng, calls), *_appointments(rng, appointments))


def _calls(rng: random.Random, calls: int) -> list[list[bytes]]:
    start = first_day(calls)
    days = (NOW.date() - start).days
    summaries = [
        f'"Caller asked about {what}, said ""{when}"" works best and wants a call back."'
        for what in ("a vaccine", "a limping dog", "dental cleaning", "a refill", "boarding", "an invoice")
        for when in ("Monday", "any morning", "after 5pm")
    ]
    outcomes = ("Appointment booked", "Resolved", "Callback requested", "Voicemail", "Transferred")
    intents = ("Scheduling", "Billing", "Medical question", "General inquiry")
    rendered: list[list[bytes]] = []
    for number in range(days):
        size = calls // days + (1 if number < calls % days else 0)
        day = (start + timedelta(days=number)).isoformat()
        minutes = sorted(rng.randrange(480, 1200) for _ in range(size))
        rendered.append(
            [
                (
                    f"{day} {minute // 60:02d}:{minute % 60:02d},Harbor Animal Hospital,inbound,completed,"
                    f"existing,Client {rng.randrange(9000)},Rex,+1212{2_000_000 + rng.randrange(10**6)},"
                    f"{rng.choice(intents)},Yes,{rng.choice(summaries)},Positive,{rng.choice(outcomes)},No,"
                    f"{rng.randrange(1, 15)}:{rng.randrange(60):02d}\n"
                ).encode()
                for minute in minutes
            ]
        )
    return rendered


def _appointments(rng: random.Random, count: int) -> tuple[list[datetime], list[bytes]]:
    first = datetime(2025, 1, 1, 12, tzinfo=UTC)
    step = (NOW - timedelta(days=1) - first) / max(1, count)
    times = [first + step * number for number in range(count)]
    rows = [
        json.dumps(
            {
                "id": str(100_000 + number),
                "remote_id": f"{number}-117",
                "remote_client_id": f"{rng.randrange(9000)}-117",
                "remote_patient_id": f"{rng.randrange(14000)}-117",
                "status": rng.choice(["REQUESTED", "ACCEPTED", "CONFIRMED"]),
                "booking_date": _iso(at + timedelta(days=9)),
                "end_date": _iso(at + timedelta(days=9, minutes=30)),
                "created_at": _iso(at - timedelta(days=1)),
                "updated_at": _iso(at),
                "referral_source": rng.choice(["google", "facebook", None]),
                "referral_campaign": None,
                "referral_medium": "cpc",
                "client_first_name": "Anna",
                "client_last_name": f"Client{number % 9000}",
                "client_email": f"client{number % 9000}@example.com",
                "client_phone": f"+1212{2_000_000 + number % 10**6}",
                "client_type": "existing",
                "patient_name": "Rex",
            }
        ).encode()
        for number, at in enumerate(times)
    ]
    return times, rows


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ReadyPages:
    """The platform as a bare ASGI application: sign-in, phone calls as CSV, appointments, nothing else."""

    def __init__(self, ready: Ready, latency: float) -> None:
        self._ready = ready
        self._latency = latency
        self._now = NOW
        self._today: list[bytes] = []

    async def __call__(self, scope: Scope, _receive: object, send: Send) -> None:
        """Answer one request, so many seconds after it came."""
        await asyncio.sleep(self._latency)
        path, query = str(scope["path"]), parse_qs(bytes(scope["query_string"]).decode())  # type: ignore[call-overload]
        if path.endswith("/sign-in"):
            body, headers = b'{"success":true,"data":{"token":"t"},"message":null}', [_JSON]
        elif path.endswith("/more"):
            body, headers = self._more(int(query["calls"][0])), [_JSON]
        elif path.endswith("/phone_calls"):
            is_first = (b"x-client-id", FIRST.encode()) in scope["headers"]  # type: ignore[operator]
            body, headers = self._calls_page(query, self._today if is_first else [])
        else:
            body, headers = self._appointments_page(query)
        await send({"type": "http.response.start", "status": 200, "headers": [self._date, *headers]})
        await send({"type": "http.response.body", "body": body})

    @property
    def _date(self) -> tuple[bytes, bytes]:
        return b"date", format_datetime(self._now, usegmt=True).encode()

    def _more(self, calls: int) -> bytes:
        """Let an hour pass, in which so many calls come."""
        self._now += timedelta(hours=1)
        self._today += [
            f"{self._now:%Y-%m-%d %H}:00,Harbor Animal Hospital,inbound,completed,new,Client {number},Rex,"
            f"+1646{2_000_000 + number},Scheduling,Yes,Wants to come,Positive,Voicemail,No,1:05\n".encode()
            for number in range(len(self._today), len(self._today) + calls)
        ]
        return b"{}"

    def _calls_page(
        self, query: dict[str, list[str]], today: list[bytes]
    ) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        first = max(0, (date.fromisoformat(query["start_date"][0]) - self._ready.start).days)
        last = (date.fromisoformat(query["end_date"][0]) - self._ready.start).days
        size, number = int(query["per_page"][0]), int(query["page"][0])
        rows = [row for day in [*self._ready.call_days, today][first : last + 1] for row in day]
        shown = rows[number * size : (number + 1) * size]
        numbers = {"X-Total-Count": len(rows), "X-Page": number, "X-Per-Page": size}
        headers = [(name.encode(), str(value).encode()) for name, value in numbers.items()]
        return HEADER + b"".join(shown), [(b"content-type", b"text/csv"), *headers]

    def _appointments_page(self, query: dict[str, list[str]]) -> tuple[bytes, list[tuple[bytes, bytes]]]:
        times = self._ready.appointment_times
        low = bisect.bisect_left(times, _bound(query, "start_date", times[0]))
        high = bisect.bisect_right(times, _bound(query, "end_date", NOW))
        size, number = (
            int(query.get(name, [default])[0]) for name, default in (("per_page", "50"), ("page", "0"))
        )
        rows = self._ready.appointments[low:high][number * size : (number + 1) * size]
        head = (
            f'{{"success":true,"data":{{"page":{number},"per_page":{size},"total_count":{high - low},"content":['
        )
        return head.encode() + b",".join(rows) + b'],"total_pages":1},"message":null}', [_JSON]


def _bound(query: dict[str, list[str]], name: str, otherwise: datetime) -> datetime:
    return datetime.fromisoformat(query[name][0]) if name in query else otherwise


_JSON = (b"content-type", b"application/json")


def serve(port: int, calls: int, appointments: int, latency: float) -> None:
    """Render everything, then serve until the process is ended."""
    application = ReadyPages(render(calls, appointments), latency)
    config = uvicorn.Config(
        application,  # type: ignore[arg-type]
        host="127.0.0.1",
        port=port,
        http="httptools",
        lifespan="off",
        log_level="error",
        access_log=False,
        date_header=False,
        server_header=False,
    )
    uvicorn.Server(config).run()


@contextmanager
def served(calls: int, appointments: int, latency: float = 0.0) -> Generator[str]:
    """Serve ready pages from a process of their own, and return their address."""
    port = _free_port()
    code = f"from benchmarks.ready_pages import serve; serve({port}, {calls}, {appointments}, {latency})"
    server = subprocess.Popen([sys.executable, "-c", code])  # noqa: S603 - our own module
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _free_port() -> int:
    """Return a port of this machine that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    """Return if the server answers; rendering takes a while."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError("the bench server did not start")
