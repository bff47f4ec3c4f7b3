"""A 200 means "on disk", for any state of the disk, the load or the process; deliveries share commits."""

import asyncio
import json
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any, NoReturn, cast

import pytest
import structlog
from support.deliveries import body_of, message, signed
from support.receiver_process import INBOX, ROOT, HeldInbox, ReceiverProcess
from vetl.addons.webhooks.receiver import Bounds, Full, GroupCommit
from vetl.core.errors import InboxError
from vetl.partner.webhooks import Channel
from vetl.receiving.inbox import Entry, Inbox

Opened = Callable[..., AbstractContextManager[Any]]
NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)


def entry(number: int) -> Entry:
    return Entry(Channel.MESSAGES, "loc-001", str(number).encode(), NOW + timedelta(seconds=number))


def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    """2 is FULL: the log is synced before a commit returns."""
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        connection = inbox._connection  # pyright: ignore[reportPrivateUsage] - what counts is this connection's
        assert connection.execute("pragma synchronous").fetchone() == (2,)
        assert connection.execute("pragma journal_mode").fetchone() == ("wal",)


def test_drained_deliveries_are_forgotten_later_and_waiting_ones_never(tmp_path: Path) -> None:
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        inbox.keep([entry(1), entry(2)])
        inbox.settle([1])
        assert inbox.forget(datetime.now(UTC) - timedelta(days=1)) == 0
        assert inbox.forget(datetime.now(UTC) + timedelta(days=1)) == 1
        assert [replace(entry(2), number=2)] == inbox.waiting(10)


def test_only_the_same_bytes_are_a_repeat(receiver: Opened) -> None:
    """Each attempt may carry an `event_id` of its own: draining decides which deliveries are equal."""
    with receiver() as running:
        first = message("m-1", "delivered")
        for payload in (first, first, message("m-1", "delivered"), message("m-1", "read")):
            assert running.send("messages", payload).status_code == 200
        assert running.kept()[0].body == body_of(first)
        assert len(running.kept()) == 3
        metrics = running.get("/metrics").text
        assert 'vetl_webhook_deliveries_total{channel="messages",result="kept"} 3' in metrics
        assert 'vetl_webhook_deliveries_total{channel="messages",result="repeated"} 1' in metrics
        assert "vetl_inbox_waiting 3" in metrics


@pytest.mark.parametrize("name", ["inbox.sqlite", "inbox.sqlite-wal"])
def test_a_delivery_into_a_moved_file_is_not_acknowledged(tmp_path: Path, name: str) -> None:
    """A file that was deleted or moved away accepts writes like any other."""
    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        inbox.keep([entry(1)])
        (tmp_path / name).rename(tmp_path / "away")
        with pytest.raises(InboxError, match="was moved or deleted while it was in use"):
            inbox.keep([entry(2)])
        with pytest.raises(InboxError, match="was moved or deleted"):
            inbox.probe()


def test_a_log_that_cannot_be_written_changes_no_answer(receiver: Opened) -> None:
    """The log may be on the same full disk as the inbox."""

    def full(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    structlog.configure(processors=[full])

    with receiver() as running:
        assert running.send("messages", b"not JSON").status_code == 200
        assert running.send("messages", message(), "wrong").status_code == 401
    with receiver(bounds=Bounds(commit_seconds=0)) as running:
        assert running.send("messages", message()).status_code == 503


OPENED_AND_CLOSED = """
import sys, pathlib
from vetl.receiving.inbox import Inbox
with Inbox.open(pathlib.Path(sys.argv[1])) as inbox:
    inbox.settle([item.number for item in inbox.waiting(10)])
"""


def test_whoever_opens_and_closes_the_inbox_takes_nothing_along(tmp_path: Path) -> None:
    """A drain is a process of its own that comes and goes while the receiver continues to write."""
    with ReceiverProcess(tmp_path) as running:
        for number in range(3):
            assert running.send(message(f"m-{number}")) == 200
            subprocess.run([sys.executable, "-c", OPENED_AND_CLOSED, running.inbox], cwd=ROOT, check=True)
        assert running.send(message("m-last")) == 200
        running.kill()

    with Inbox.open(running.inbox) as inbox:
        assert inbox.backlog().last == 4
        assert [json.loads(item.body)["id"] for item in inbox.waiting(10)] == ["m-last"]


def send_until_it_breaks(running: ReceiverProcess, numbers: "count[int]", acknowledged: list[str]) -> None:
    connection = running.connection()
    try:
        while True:
            payload = message(f"m-{next(numbers)}")
            body = body_of(payload)
            connection.request("POST", "/webhooks/messages", body, signed(body))
            answer = connection.getresponse()
            answer.read()
            if answer.status == 200:
                acknowledged.append(payload["id"])
    except (OSError, HTTPException):
        return
    finally:
        connection.close()


KILLS = 5


def test_killed_under_load_it_has_everything_that_it_acknowledged_and_nothing_twice(tmp_path: Path) -> None:
    acknowledged: list[str] = []
    numbers = count()
    for kills in range(KILLS):
        running = ReceiverProcess(tmp_path)
        senders = [
            threading.Thread(target=send_until_it_breaks, args=(running, numbers, acknowledged)) for _ in range(4)
        ]
        for sender in senders:
            sender.start()
        while len(acknowledged) < 30 * (kills + 1):
            assert running.process.poll() is None
            senders[0].join(0.005)
        running.kill()
        for sender in senders:
            sender.join()

    with Inbox.open(tmp_path / INBOX) as inbox:
        kept = [json.loads(item.body)["id"] for item in inbox.waiting(100_000)]
    assert set(acknowledged) <= set(kept)
    assert len(kept) == len(set(kept))


def test_on_a_disk_that_is_really_full_nothing_is_acknowledged_until_there_is_room(tmp_path: Path) -> None:
    """The system refuses to let the files grow; the process continues, and needs no restart afterwards."""
    with ReceiverProcess(tmp_path) as running:
        assert running.send(message("m-1")) == 200
        log_file = running.inbox.with_name("inbox.sqlite-wal")
        unlimited = resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE)
        full = (log_file.stat().st_size + 60_000, unlimited[1])
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, full)

        large = {f"m-{number}": message(f"m-{number}", client_id="x" * 5_000) for number in range(2, 12)}
        statuses = {identity: running.send(payload) for identity, payload in large.items()}
        assert set(statuses.values()) == {200, 503}
        assert running.get("/readyz")[0] == 503
        assert running.get("/healthz")[0] == 200
        assert "make room; senders get 503 until then" in running.log
        assert "run it again" not in running.log
        acknowledged = {"m-1", *(identity for identity, status in statuses.items() if status == 200)}
        assert acknowledged == on_disk(running.inbox)

        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, unlimited)
        assert running.get("/readyz")[0] == 200
        assert {running.send(payload) for payload in large.values()} == {200}
        assert {"m-1", *large} == on_disk(running.inbox)


def on_disk(path: Path) -> set[str]:
    """Return the ids of the messages that a new process finds in the file."""
    with Inbox.open(path) as inbox:
        return {json.loads(item.body)["id"] for item in inbox.waiting(1_000)}


def test_deliveries_that_arrive_during_a_commit_share_the_next_one() -> None:
    inbox: Any = HeldInbox()

    async def scenario() -> None:
        writer = GroupCommit(inbox)
        first = asyncio.create_task(writer.keep(entry(0)))
        await asyncio.to_thread(inbox.begun.wait, 60)
        others = [asyncio.create_task(writer.keep(entry(number))) for number in range(1, 50)]
        await asyncio.sleep(0)
        assert not first.done()
        inbox.go.set()
        assert all(await asyncio.gather(first, *others))
        await writer.close()

    asyncio.run(scenario())
    assert inbox.batches == [1, 49]


def test_more_than_can_wait_is_refused_at_once() -> None:
    inbox: Any = HeldInbox()

    async def scenario() -> None:
        writer = GroupCommit(inbox, capacity=1)
        first = asyncio.create_task(writer.keep(entry(0)))
        await asyncio.to_thread(inbox.begun.wait, 60)
        second = asyncio.create_task(writer.keep(entry(1)))
        await asyncio.sleep(0)
        with pytest.raises(Full):
            await writer.keep(entry(2))
        inbox.go.set()
        await asyncio.gather(first, second)
        await writer.close()

    asyncio.run(scenario())


def test_an_unforeseen_failure_of_the_inbox_is_reported_at_once() -> None:
    class Broken(HeldInbox):
        def keep(self, entries: Sequence[Entry]) -> list[bool]:
            raise MemoryError(len(entries))

    async def scenario() -> None:
        writer = GroupCommit(cast("Any", Broken()))
        with pytest.raises(InboxError, match="MemoryError"):
            await asyncio.wait_for(writer.keep(entry(0)), 60)
        await writer.close()

    asyncio.run(scenario())


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept", "utf-8")
    (tmp_path / ".inbox.sqlite.room").symlink_to(precious)

    with Inbox.open(tmp_path / "inbox.sqlite") as inbox:
        inbox.check_room()

    assert precious.read_text("utf-8") == "kept"
    assert {path.name for path in tmp_path.iterdir()} == {"precious", ".inbox.sqlite.room", "inbox.sqlite"}


def test_a_full_disk_is_named_with_its_remedy(tmp_path: Path) -> None:
    path = tmp_path / "inbox.sqlite"
    with Inbox.open(path) as inbox:
        inbox._connection.execute("pragma max_page_count = 8")  # pyright: ignore[reportPrivateUsage] - as a quota
        entry = Entry(Channel.MESSAGES, "loc-001", bytes(100_000), datetime.now(UTC))
        with pytest.raises(InboxError, match=r"disk is full; is the disk full\? make room and run it again"):
            inbox.keep([entry])
