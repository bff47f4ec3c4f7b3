"""Slow and silent senders keep no genuine delivery out."""

import asyncio
import re
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.deliveries import SECRET, body_of, message, signed
from support.receiver_process import HeldInbox, ReceiverProcess, served
from vetl.partner.webhooks import Secret
from vetl.receiving.admission import Trust
from vetl.receiving.app import application
from vetl.receiving.connections import Crowd
from vetl.receiving.group_commit import GroupCommit
from vetl.receiving.inbox import Backlog

TRUST = Trust((Secret(SECRET),))
HEAD = b"POST /webhooks/messages HTTP/1.1\r\nHost: receiver\r\n"
PATIENCE = 0.3
"""How long the receiver of these tests waits for a head."""


@pytest.fixture
def memory() -> HeldInbox:
    inbox = HeldInbox()
    inbox.go.set()
    return inbox


@pytest.fixture
def crowd() -> Crowd:
    return Crowd(3, head_seconds=PATIENCE)


@pytest.fixture
def address(memory: HeldInbox, crowd: Crowd) -> Iterator[str]:
    app = application(lambda: TRUST, GroupCommit(memory), Backlog)
    with served(app, crowd) as url:
        yield urlsplit(url).netloc


def connected(address: str) -> socket.socket:
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def request(body: bytes, secret: str = SECRET) -> bytes:
    signature = signed(body, secret)["X-Webhook-Signature"]
    return HEAD + f"X-Webhook-Signature: {signature}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def closed_after(connection: socket.socket, drip: bytes = b"") -> float:
    """Return the seconds until the receiver closes, while a byte is sent now and then; its answers are dropped."""
    started = time.monotonic()
    connection.settimeout(0.05)
    while True:
        try:
            if drip:
                connection.sendall(drip)
            if not connection.recv(65_536):
                return time.monotonic() - started
        except TimeoutError:
            assert time.monotonic() - started < 10
        except OSError:
            return time.monotonic() - started


@pytest.mark.parametrize(
    ("said", "drip"),
    [
        (b"", b""),
        (HEAD, b"a"),
        (request(body_of(message())), b"\r\n"),
        (HEAD + b"Content-Length: 1000\r\n\r\n", b"x"),
    ],
    ids=["nothing", "a head without end", "nothing after an answer", "a body that was answered before its end"],
)
def test_a_connection_without_a_request_is_closed(address: str, said: bytes, drip: bytes) -> None:
    with connected(address) as connection:
        connection.sendall(said)
        seconds = closed_after(connection, drip)

    assert PATIENCE / 2 < seconds < 5


def test_a_head_that_is_too_long_is_not_read_to_its_end(address: str, crowd: Crowd) -> None:
    crowd.head_seconds = 60
    with connected(address) as connection:
        connection.sendall(HEAD)
        with pytest.raises(ConnectionError):
            connection.sendall((b"X-Padding: " + b"x" * 8_000 + b"\r\n") * 10_000)


@pytest.mark.parametrize(
    "head",
    [HEAD + b"X-Padding: " + b"x" * 100_000, HEAD.replace(b" HTTP", b"?" + b"x" * 40_000 + b" HTTP")],
    ids=["a line", "an address"],
)
def test_a_head_that_is_too_long_is_refused_although_it_is_whole(address: str, head: bytes) -> None:
    """It arrives in one piece, so the parser has all of it before the bytes are counted."""
    with connected(address) as connection:
        connection.sendall(head + b"\r\nContent-Length: 0\r\n\r\n")
        try:
            assert connection.recv(65_536)[:12] in (b"HTTP/1.1 400", b"")
        except ConnectionError:
            return


def test_of_too_many_connections_those_go_that_waited_longest_and_nobody_who_was_heard(
    address: str, memory: HeldInbox, crowd: Crowd
) -> None:
    crowd.head_seconds = 60
    memory.go.clear()
    with ExitStack() as stack:
        heard = stack.enter_context(connected(address))
        heard.sendall(request(body_of(message())))
        assert memory.begun.wait(10)
        silent = [stack.enter_context(connected(address)) for _ in range(2)]
        silent[1].sendall(request(b"a body that stays away")[:-5])
        time.sleep(0.1)
        last = [stack.enter_context(connected(address)) for _ in range(2)]
        assert [silent[0].recv(1), silent[1].recv(1)] == [b"", b""]
        assert crowd.dismissed == 2
        last[0].sendall(request(body_of(message())))
        memory.go.set()
        assert heard.recv(12) == last[0].recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize(
    "said", [b"", HEAD, request(b"x" * 1_000)[:-1]], ids=["silent", "in the head", "in the body"]
)
def test_hundreds_of_slow_connections_starve_no_genuine_delivery(tmp_path: Path, said: bytes) -> None:
    """More of them than the receiver may have files open."""
    with ReceiverProcess(tmp_path, open_files=128) as running, ExitStack() as stack:
        for number in range(20):
            for _ in range(15):
                stack.enter_context(connected(running.address)).sendall(said)
            assert running.send(message(f"m-{number}")) == 200
        metrics = running.get("/metrics")[1]

    [dismissed] = re.findall(r"^vetl_webhook_connections_dismissed_total (\d+)$", metrics, re.MULTILINE)
    assert int(dismissed) > 300 - 128


@pytest.mark.parametrize("size", [200, 50_000], ids=["small", "of 50 KB"])
def test_a_flood_of_forged_deliveries_lets_no_genuine_one_wait(tmp_path: Path, size: int) -> None:
    """1,500 connections at a time, each opened again as soon as it is answered or closed."""
    forged = request(b"x" * size, "another secret")

    ended = 0

    async def forge(host: str, port: int, over: asyncio.Event) -> None:
        nonlocal ended
        while not over.is_set():
            with suppress(OSError):
                answer, sender = await asyncio.open_connection(host, port)
                sender.write(forged)
                await answer.read(100)
                sender.close()
                ended += 1

    async def flood(running: ReceiverProcess) -> list[int]:
        host, port = running.address.split(":")
        over, before = asyncio.Event(), list[int]()
        forgers = [asyncio.create_task(forge(host, int(port), over)) for _ in range(1_500)]
        for number in range(4):
            started = ended
            assert await asyncio.to_thread(running.send, message(f"m-{number}")) == 200
            before.append(ended - started)
        over.set()
        for forger in forgers:
            forger.cancel()
        await asyncio.gather(*forgers, return_exceptions=True)
        return before

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4_096, hard), hard))
    try:
        with ReceiverProcess(tmp_path) as running:
            before = asyncio.run(flood(running))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    # A genuine delivery waits for the connections before it in the queue, and not for those that follow.
    assert max(before) < 2 * 1_500


def test_no_request_whatever_it_is_stops_the_receiver(address: str) -> None:
    """Lines that are no HTTP, an upgrade, two requests at once, chunks, a body that waits for `100 Continue`."""
    body = body_of(message())
    signature = signed(body)["X-Webhook-Signature"].encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:10], body[10:], b""))
    chunked = HEAD + b"x-WEBHOOK-signature: " + signature + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
    cases = {
        b"\x16\x03\x01\x02\x00\x01\x00": b"HTTP/1.1 400",
        b"GET / HTTP/9.9\r\n\r\n": b"HTTP/1.1 400",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n": b"HTTP/1.1 200",
        b"GET /webhooks/messages HTTP/1.1\r\nHost: a\r\n\r\n": b"HTTP/1.1 405",
        request(body) * 2: b"HTTP/1.1 200",
        chunked: b"HTTP/1.1 200",
        request(body).replace(b"Host:", b"Expect: 100-continue\r\nHost:"): b"HTTP/1.1 100",
        request(body).replace(b"HTTP/1.1", b"HTTP/1.0"): b"HTTP/1.1 200",
        request(body).replace(b"messages", b"messages/"): b"HTTP/1.1 200",
        request(body).replace(b"messages", b"messages?source=rcs"): b"HTTP/1.1 200",
    }
    for said, expected in cases.items():
        with connected(address) as connection:
            connection.sendall(said)
            assert expected == connection.recv(65_536)[: len(expected)], said
