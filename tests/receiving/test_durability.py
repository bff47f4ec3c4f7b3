"""A 200 means "on disk", whatever happens to the disk, the load or the process."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.deliveries import SECRET, body_of, message, signed

from pipelines.errors import InboxError
from pipelines.partner.webhooks import Channel
from pipelines.receiving.app import Bounds
from pipelines.receiving.group_commit import Full, GroupCommit
from pipelines.receiving.inbox import Entry, Inbox

Opened = Callable[..., AbstractAsyncContextManager[Any]]
NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)


def entry(number: int) -> Entry:
    return Entry(Channel.MESSAGES, "loc-001", str(number).encode(), b"{}", NOW + timedelta(seconds=number))


def test_what_was_kept_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        assert inbox.keep([entry(1), entry(2), entry(1)]) == [True, True, False]
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        assert [entry(1), entry(2)] == [item.entry for item in inbox.waiting(10)]
        assert (2, NOW + timedelta(seconds=1), 2) == (
            (backlog := inbox.backlog()).waiting,
            backlog.oldest,
            backlog.last,
        )


def test_only_its_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "inbox.sqlite"
    with Inbox.open(path):
        assert path.stat().st_mode & 0o077 == 0


def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    """2 is FULL: the log is synced before a commit returns."""
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        connection = inbox._connection  # pyright: ignore[reportPrivateUsage] - what counts is this connection's
        assert connection.execute("pragma synchronous").fetchone() == (2,)
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)


def test_a_file_that_is_no_inbox_is_named_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "inbox.sqlite"
    path.write_text("something else, and long enough to be looked at" * 100)

    with pytest.raises(InboxError, match=r"inbox\.sqlite: file is not a database"):
        Inbox.open(path)


def test_drained_deliveries_are_forgotten_later_and_waiting_ones_never(tmp_path: Path) -> None:
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        inbox.keep([entry(1), entry(2)])
        inbox.settle([1])
        assert inbox.forget(datetime.now(UTC) - timedelta(days=1)) == 0
        assert inbox.forget(datetime.now(UTC) + timedelta(days=1)) == 1
        assert [entry(2)] == [item.entry for item in inbox.waiting(10)]


def test_a_drain_and_the_receiver_use_the_file_at_once(tmp_path: Path) -> None:
    with Inbox.open(tmp_path / "inbox.sqlite") as receiving, Inbox.open(tmp_path / "inbox.sqlite") as draining:
        receiving.keep([entry(1)])
        [first] = draining.waiting(10)
        receiving.keep([entry(2)])
        draining.settle([first.number])
        assert [entry(2)] == [item.entry for item in receiving.waiting(10)]


class SlowInbox:
    """Holds its first commit until it is let go."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.begun = threading.Event()
        self.go = threading.Event()

    def keep(self, entries: Sequence[Entry]) -> list[bool]:
        self.batches.append(len(entries))
        self.begun.set()
        assert self.go.wait(10)
        return [True] * len(entries)

    def probe(self) -> None:
        assert self.go.wait(10)


def test_what_arrives_during_a_commit_shares_the_next_one() -> None:
    inbox = SlowInbox()

    async def scenario() -> None:
        writer = GroupCommit(inbox)
        first = asyncio.create_task(writer.keep(entry(0)))
        await asyncio.to_thread(inbox.begun.wait, 10)
        others = [asyncio.create_task(writer.keep(entry(number))) for number in range(1, 50)]
        await asyncio.sleep(0)
        assert not first.done()
        inbox.go.set()
        assert all(await asyncio.gather(first, *others))
        await writer.close()

    asyncio.run(scenario())
    assert inbox.batches == [1, 49]


def test_more_than_can_wait_is_refused_at_once() -> None:
    inbox = SlowInbox()

    async def scenario() -> None:
        writer = GroupCommit(inbox, capacity=1)
        first = asyncio.create_task(writer.keep(entry(0)))
        await asyncio.to_thread(inbox.begun.wait, 10)
        second = asyncio.create_task(writer.keep(entry(1)))
        await asyncio.sleep(0)
        with pytest.raises(Full):
            await writer.keep(entry(2))
        inbox.go.set()
        await asyncio.gather(first, second)
        await writer.close()

    asyncio.run(scenario())


def test_a_full_disk_is_said_and_the_delivery_is_kept_once_there_is_room(receiver: Opened) -> None:
    async def scenario() -> None:
        async with receiver() as running:
            running.disk.full = True
            refused = await running.send("messages", message())
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
            assert (await running.http.get("/readyz")).status_code == 503
            assert (await running.http.get("/healthz")).status_code == 200
            running.disk.full = False
            assert (await running.http.get("/readyz")).status_code == 200
            assert (await running.send("messages", message())).status_code == 200
            assert len(running.kept()) == 1

    asyncio.run(scenario())


def test_a_commit_that_takes_too_long_is_not_acknowledged(receiver: Opened) -> None:
    """The sender gives up after 10 s, so a later 200 would reach nobody."""

    async def scenario() -> None:
        async with receiver(bounds=Bounds(commit_seconds=0)) as running:
            assert (await running.send("messages", message())).status_code == 503

    asyncio.run(scenario())


def test_deliveries_that_tell_the_same_are_kept_once(receiver: Opened) -> None:
    """Each attempt may carry an `event_id` of its own."""

    async def scenario() -> None:
        async with receiver() as running:
            first = message("m-1", "delivered")
            for payload in (first, first, message("m-1", "delivered"), message("m-1", "read")):
                assert (await running.send("messages", payload)).status_code == 200
            assert running.kept()[0].entry.body == body_of(first)
            assert len(running.kept()) == 2
            metrics = (await running.http.get("/metrics")).text
            assert 'vetl_webhook_deliveries_total{channel="messages",result="kept"} 2' in metrics
            assert 'vetl_webhook_deliveries_total{channel="messages",result="repeated"} 2' in metrics
            assert "vetl_inbox_waiting 2" in metrics

    asyncio.run(scenario())


class ReceiverProcess:
    """`vetl webhooks serve`, as an operator starts it."""

    def __init__(self, folder: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pipelines", "webhooks", "serve", "--port", "0", "--json"],
            cwd=folder,
            env={
                **environment,
                "VETL_WEBHOOKS__SECRETS": SECRET,
                "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
            },
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.address = urlsplit(json.loads(self.process.stdout.readline())["base_url"]).netloc

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def send_until_it_breaks(address: str, numbers: "count[int]", acknowledged: list[str]) -> None:
    """One sender's part of the load."""
    connection = HTTPConnection(address, timeout=10)
    try:
        while True:
            payload = message(f"m-{next(numbers)}")
            body = body_of(payload)
            connection.request("POST", "/webhooks/messages", body, signed(body))
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                acknowledged.append(payload["id"])
    except OSError:
        return
    finally:
        connection.close()


def test_killed_under_load_it_has_everything_that_it_acknowledged_and_nothing_twice(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    numbers = count()
    for round_number in range(2):
        running = ReceiverProcess(tmp_path)
        arguments = (running.address, numbers, acknowledged)
        senders = [threading.Thread(target=send_until_it_breaks, args=arguments) for _ in range(4)]
        for sender in senders:
            sender.start()
        while len(acknowledged) < 60 * (round_number + 1):
            assert running.process.poll() is None
            senders[0].join(0.01)
        running.kill()
        for sender in senders:
            sender.join()

    with Inbox.open(tmp_path / "warehouse/data/inbox.sqlite") as inbox:
        kept = [json.loads(item.entry.body)["id"] for item in inbox.waiting(100_000)]
    assert set(acknowledged) <= set(kept)
    assert len(kept) == len(set(kept))
