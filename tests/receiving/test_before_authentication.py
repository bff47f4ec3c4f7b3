"""A sender without a secret can hold a bounded share of the receiver's memory, and nothing else."""

import re
import resource
import socket
import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from support.deliveries import SECRET, message
from support.receiver_process import ReceiverProcess, served
from vetl.partner.webhooks import Secret
from vetl.receiving.admission import Trust
from vetl.receiving.app import Bounds, application
from vetl.receiving.budget import Budget, Exhausted
from vetl.receiving.group_commit import GroupCommit
from vetl.receiving.inbox import Inbox

Opened = Callable[..., AbstractContextManager[Any]]
MEGABYTE = 1_048_576
FORGED = b"POST /webhooks/messages HTTP/1.1\r\nHost: r\r\nX-Webhook-Signature: " + b"0" * 64 + b"\r\n"


def memory_of(process: int, what: str) -> int:
    """Return bytes: `VmRSS` is the present value, `VmHWM` the highest."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(rf"{what}:\s+(\d+) kB", status)[0]) * 1024


def test_open_bodies_hold_a_bounded_memory_and_give_it_back(tmp_path: Path) -> None:
    """Of the 240 MiB that are sent, none is known to be genuine."""
    part = b"x" * (900 * 1024)
    with ReceiverProcess(tmp_path) as running:
        assert running.send(message("m-before")) == 200
        before = memory_of(running.process.pid, "VmRSS")
        with ExitStack() as stack:
            for _ in range(270):
                host, port = running.address.split(":")
                connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=30))
                try:
                    connection.sendall(FORGED + b"Content-Length: 1048576\r\n\r\n" + part)
                except ConnectionError:
                    continue
            assert running.send(message("m-beside")) == 200
        assert running.send(message("m-after")) == 200
        assert memory_of(running.process.pid, "VmHWM") - before < 112 * MEGABYTE
        while "vetl_webhook_unverified_bytes 0\n" not in running.get("/metrics")[1]:
            time.sleep(0.1)
        assert memory_of(running.process.pid, "VmRSS") - before < 24 * MEGABYTE


def test_the_largest_body_goes_and_small_ones_stay() -> None:
    budget = Budget(1_000)
    large, small = budget.begin(), [budget.begin() for _ in range(9)]
    budget.add(large, b"x" * 900)
    for body in small:
        budget.add(body, b"x" * 100)

    assert [large.evicted, *(body.evicted for body in small)] == [True, *[False] * 9]
    assert (budget.received, len(large.data)) == (900, 0)
    with pytest.raises(Exhausted):
        budget.add(large, b"more of it")
    for body in (large, *small):
        budget.release(body)
    assert budget.received == 0


def test_a_body_that_had_to_go_is_asked_for_again(receiver: Opened) -> None:
    with receiver(bounds=Bounds(unverified_bytes=100)) as running:
        answer = running.send("messages", message())
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    with receiver() as running:
        assert running.send("messages", message()).status_code == 200


def test_a_head_of_too_many_lines_is_refused(tmp_path: Path) -> None:
    with ReceiverProcess(tmp_path) as running, closing(running.connection()) as connection:
        connection.putrequest("GET", "/healthz")
        for number in range(150):
            connection.putheader(f"a{number}", "b")
        connection.endheaders()
        assert connection.getresponse().status == 400


def test_no_address_leads_anywhere_else(receiver: Opened) -> None:
    """A redirection would be made of the `Host` that the sender names."""
    with receiver() as running:
        for path in ("/webhooks/messages//", "/webhooks//messages", "/healthz/", "/"):
            answer = running.post(path, headers={"Host": "evil.example"})
            assert (answer.status_code, answer.headers.get("Location")) == (404, None), path
        answer = running.post("/webhooks/messages/", headers={"Host": "evil.example"})
        assert answer.status_code == 401


@pytest.mark.parametrize(("proxies", "limited"), [((), 10), (("127.0.0.0/8",), 0)])
def test_only_a_known_proxy_may_name_the_sender(tmp_path: Path, proxies: tuple[str, ...], limited: int) -> None:
    """A sender who could name another address each time would never be limited."""
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        app = application(lambda: Trust((Secret(SECRET),)), GroupCommit(inbox), inbox.backlog)
        with served(app, proxies=proxies) as url:
            statuses: list[int] = []
            for number in range(40):
                with closing(HTTPConnection(url.removeprefix("http://"), timeout=10)) as connection:
                    headers = {"X-Forwarded-For": f"203.0.113.{number}"}
                    connection.request("POST", "/webhooks/messages", b"{}", headers)
                    statuses.append(connection.getresponse().status)

    assert statuses.count(429) == limited


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
