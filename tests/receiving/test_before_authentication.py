"""A sender without a secret reaches nothing."""

import resource
import socket
import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.deliveries import SECRET, body_of, message, signed
from support.receiver_process import ReceiverProcess, served
from vetl.partner.webhooks import Secret
from vetl.receiving.app import application
from vetl.receiving.inbox import GroupCommit, Inbox
from vetl.receiving.trust import Trust

Opened = Callable[..., AbstractContextManager[Any]]


def test_no_address_leads_anywhere_else(receiver: Opened) -> None:
    """A redirection would be made of the `Host` that the sender names."""
    with receiver() as running:
        for path in ("/webhooks/messages//", "/webhooks//messages", "/healthz/", "/"):
            answer = running.post(path, headers={"Host": "evil.example"})
            assert (answer.status_code, answer.headers.get("Location")) == (404, None), path
        answer = running.post("/webhooks/messages/", headers={"Host": "evil.example"})
        assert answer.status_code == 401


@pytest.mark.parametrize(("proxies", "named"), [((), "127.0.0.1"), (("127.0.0.0/8",), "203.0.113.7")])
def test_only_a_known_proxy_may_name_the_sender(tmp_path: Path, proxies: tuple[str, ...], named: str) -> None:
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        app = application(lambda: Trust((Secret(SECRET),)), GroupCommit(inbox), inbox.backlog)
        with (
            capture_logs() as logs,
            served(app, proxies=proxies) as url,
            closing(HTTPConnection(url.removeprefix("http://"), timeout=10)) as connection,
        ):
            connection.request("POST", "/webhooks/messages", b"{}", {"X-Forwarded-For": "203.0.113.7"})
            assert connection.getresponse().status == 401

    assert [line["source"] for line in logs] == [named]


def test_secrets_are_changed_without_a_restart(tmp_path: Path) -> None:
    secrets = tmp_path / ".env"
    secrets.write_text("VETL_WEBHOOKS__SECRETS=old")
    with ReceiverProcess(tmp_path, secrets="") as running:
        assert running.send(message("m-1"), secret="old") == 200
        assert running.send(message("m-2"), secret="new") == 401

        saved = (("old,new", {200}, {200}), ("new", {401}, {200}), ("", {401}, {200}))
        for active, old, new in saved:
            secrets.write_text(f"VETL_WEBHOOKS__SECRETS={active}")
            time.sleep(1.2)
            assert {running.send(message(f"old-{active}"), secret="old")} == old
            assert {running.send(message(f"new-{active}"), secret="new")} == new
        assert "the webhook secrets stay as they were" in running.log
        assert "=old" not in running.log


def test_a_full_disk_is_not_ready_even_if_the_log_has_room(tmp_path: Path) -> None:
    """SQLite begins its log again after a checkpoint, and a small write then needs no room."""
    with ReceiverProcess(tmp_path) as running:
        for number in range(8):
            assert running.send(message(f"m-{number}", client_id="x" * 100_000)) == 200
        with closing(sqlite3.connect(running.inbox)) as other:
            assert other.execute("pragma wal_checkpoint(restart)").fetchone()[0] == 0
        largest = max(running.inbox.stat().st_size, running.inbox.with_name("inbox.sqlite-wal").stat().st_size)
        unlimited = resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (largest, unlimited[1]))

        assert running.get("/readyz")[0] == 503

        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, unlimited)
        assert running.get("/readyz")[0] == 200
        assert {path.name for path in running.inbox.parent.glob("*tmp*")} == set()


HEAD = b"POST /webhooks/messages HTTP/1.1\r\nHost: receiver\r\n"


def request(body: bytes) -> bytes:
    signature = signed(body)["X-Webhook-Signature"]
    return HEAD + f"X-Webhook-Signature: {signature}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def test_no_request_whatever_it_is_stops_the_receiver(tmp_path: Path) -> None:
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
    with ReceiverProcess(tmp_path) as running:
        host, port = running.address.split(":")
        for said, expected in cases.items():
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                connection.sendall(said)
                assert expected == connection.recv(65_536)[: len(expected)], said
