"""Admission: the senders that the receiver believes, and the traces of those that it refuses.

The metrics for Prometheus: exactly in the text format, and without personal data.

A sender without a secret reaches nothing.
"""

import resource
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from pydantic import SecretStr
from structlog.testing import capture_logs
from support.deliveries import SECRET, body_of, message, outreach, reminder, signed
from support.receiver_process import ROOT, ReceiverProcess, served
from vetl.addons.webhooks.job import trust_of
from vetl.addons.webhooks.receiver import Bounds, GroupCommit, Trust, application
from vetl.addons.webhooks.settings import ReceiverSettings
from vetl.partner.webhooks import Secret, secrets_from, signature
from vetl.receiving.inbox import Inbox

Opened = Callable[..., AbstractContextManager[Any]]
MARK = "Rover-Smith"
"""A word in forged bodies, which must be nowhere else."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one", [("one", None)]),
        ("one, two", [("one", None), ("two", None)]),
        ("loc-001=one,two", [("one", "loc-001"), ("two", None)]),
        ("c2VjcmV0==", [("c2VjcmV0==", None)]),
        ("loc-001=c2VjcmV0==", [("c2VjcmV0==", "loc-001")]),
        (" ,", []),
    ],
)
def test_secrets_are_for_any_practice_or_for_one(text: str, expected: list[tuple[str, str | None]]) -> None:
    assert expected == [(item.text, item.practice_id) for item in secrets_from(text)]


def test_a_secret_of_one_practice_does_not_speak_for_another(receiver: Opened) -> None:
    trust = Trust((Secret("first", "loc-001"), Secret("second", "loc-002")))

    with receiver(trust) as running:
        assert running.send("messages", message(), "second").status_code == 403
        assert running.kept() == []
        assert running.send("messages", message(), "first").status_code == 200


def test_a_body_without_practice_belongs_to_the_only_one_of_its_secret(receiver: Opened) -> None:
    payload = message()
    del payload["clinic_id"]

    with receiver(Trust((Secret("first", "loc-001"),))) as running:
        assert running.send("messages", payload, "first").status_code == 200
        assert [item.practice_id for item in running.kept()] == ["loc-001"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Webhook-Signature": ""},
        {"X-Webhook-Signature": "0" * 64},
        {"X-Webhook-Signature": signature(SECRET, b"another body")},
        {"X-Webhook-Signature": "ä".encode("latin-1").decode("latin-1")},
    ],
    ids=["none", "empty", "wrong", "of another body", "not ASCII"],
)
def test_nothing_of_a_forged_delivery_is_stored_or_logged(
    receiver: Opened, tmp_path: Path, headers: dict[str, str]
) -> None:
    body = body_of(message(client_id=MARK))

    with capture_logs() as logs, receiver() as running:
        raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
        answer = running.post("/webhooks/messages", content=body, headers=raw)

    assert answer.status_code == 401
    assert MARK not in answer.text
    assert MARK not in str(logs)
    assert all(MARK.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_unsigned_is_believed_only_on_demand_as_json_and_for_practices_without_a_secret(receiver: Opened) -> None:
    trust = trust_of(ReceiverSettings(secrets=SecretStr("loc-002=second")), unsigned=True)
    elsewhere = body_of(message(clinic_id="loc-002"))
    json_type = {"Content-Type": "application/json; charset=utf-8"}

    with receiver(trust) as running:
        here = body_of(message())
        post = running.post
        assert post("/webhooks/messages", content=here, headers=json_type).status_code == 200
        assert post("/webhooks/messages", content=elsewhere, headers=json_type).status_code == 401
        assert post("/webhooks/messages", content=b"?", headers=json_type).status_code == 401
        assert post("/webhooks/messages", content=here).status_code == 415
        assert len(running.kept()) == 1


def test_a_genuine_delivery_needs_no_content_type(receiver: Opened) -> None:
    """The contract shows none for reminders, and the signature proves more than a header."""
    body = body_of(reminder())

    with receiver() as running:
        signed_only = {"x-webhook-signature": signed(body)["X-Webhook-Signature"]}
        answer = running.post("/webhooks/service_reminders", content=body, headers=signed_only)
        assert answer.status_code == 200


@pytest.mark.parametrize("has_length", [True, False], ids=["with its length", "in chunks"])
def test_a_body_that_is_too_large_is_refused_without_being_kept_in_memory(
    receiver: Opened, *, has_length: bool
) -> None:
    body = body_of(message(client_id="x" * 500))

    async def chunks() -> AsyncIterator[bytes]:
        yield body[:200]
        yield body[200:]

    with receiver(bounds=Bounds(body_bytes=300)) as running:
        content = body if has_length else chunks()
        answer = running.post("/webhooks/messages", content=content, headers=signed(body))
        assert answer.status_code == 413
        assert running.kept() == []


def test_prometheus_can_read_the_metrics_and_the_docs_describe_each(receiver: Opened) -> None:
    with receiver() as running:
        for number in range(3):
            running.send("messages", message(f"m-{number}", client_id=MARK))
        running.send("ai_outbound", outreach(), "wrong")
        answer = running.get("/metrics")
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}

    page = (ROOT / "docs/webhooks.md").read_text()
    assert [name for name in families if not name.endswith("_created") and name not in page] == []
    deliveries = {
        (one.labels["channel"], one.labels["result"]): one.value
        for one in families["vetl_webhook_deliveries"].samples
        if one.name.endswith("_total")
    }
    assert deliveries == {("messages", "kept"): 3, ("ai_outbound", "refused"): 1}
    assert [one.value for one in families["vetl_webhook_seconds"].samples if one.name.endswith("_count")] == [4]
    assert MARK not in answer.text
    assert "loc-001" not in answer.text


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
            closing(HTTPConnection(url.removeprefix("http://"), timeout=60)) as connection,
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
            with socket.create_connection((host, int(port)), timeout=60) as connection:
                connection.sendall(said)
                assert expected == connection.recv(65_536)[: len(expected)], said
