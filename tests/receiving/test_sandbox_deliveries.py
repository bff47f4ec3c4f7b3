"""The sandbox sends, the receiver keeps, drain stores: in the end raw equals the platform's content."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from support.receiver_process import served
from support.webhook_side import NUMBERS, WebhookSide

import sandbox
from pipelines.core.errors import InboxError
from pipelines.jobs.drain import run_drain
from pipelines.partner.webhooks import Secret
from pipelines.receiving.admission import Trust
from pipelines.receiving.app import application
from pipelines.receiving.group_commit import GroupCommit
from pipelines.receiving.inbox import Entry, Inbox


class Forgetful:
    """An inbox that keeps every second batch, but reports a failure."""

    def __init__(self, inbox: Inbox) -> None:
        self.inbox = inbox
        self.failing = False
        self._calls = 0

    def keep(self, entries: Sequence[Entry]) -> list[bool]:
        kept = self.inbox.keep(entries)
        self._calls += 1
        if self.failing and self._calls % 2:
            raise InboxError("the disk is full")
        return kept

    def probe(self) -> None:
        self.inbox.probe()


class Side(WebhookSide):
    """A platform whose receiver runs in this process, so that its disk can fail."""

    def __init__(self, platform: sandbox.Handle, inbox: Forgetful, address: str, folder: Path) -> None:
        super().__init__(platform, folder, folder / "inbox.sqlite")
        self.inbox = inbox
        self.address = address


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    with ExitStack() as stack:
        platform = stack.enter_context(sandbox.running(practices=2, days=5, calls=50, frozen=True, seed=3))
        inbox = Forgetful(stack.enter_context(Inbox.open(tmp_path / "inbox.sqlite")))
        trust = Trust((Secret(platform.webhook_secret),))
        address = stack.enter_context(served(application(lambda: trust, GroupCommit(inbox), inbox.inbox.backlog)))
        platform.set(webhooks_to=f"{address}/webhooks")
        side = Side(platform, inbox, address, tmp_path)
        side.into_sending_hours()
        yield side


def test_raw_equals_the_platform_although_a_failing_disk_keeps_some_deliveries(side: Side) -> None:
    """Another attempt follows; `test_misbehaving_sender.py` has a sound disk."""
    side.inbox.failing = True
    ids = [side.send_message(number) for number in NUMBERS]
    side.platform.advance(timedelta(hours=30))

    result = run_drain(side.settings)

    assert result.notes == ()
    assert result.changes.quarantined == 0
    assert side.truth(ids) == side.messages()
    attempts = side.platform.platform.events.deliveries.log
    statuses = {(item.payload["id"], item.payload["status"]) for item in attempts if item.kind == "messages"}
    assert statuses == set(side.rows("select message_id, status from raw.message_events"))
    ended = {item.payload["request_id"]: item.payload for item in attempts if item.kind == "ai_outbound"}
    assert ended
    assert sorted(
        (identity, item["status"], item["outcome"], (item["outcome_detail"] or {}).get("appointment_id"))
        for identity, item in ended.items()
    ) == sorted(side.rows("select request_id, status, outcome, appointment_id from raw.outreach_events"))
    reminded = [item.payload["id"] for item in attempts if item.kind == "service_reminders"]
    assert reminded
    assert set(reminded) == {identity for (identity,) in side.rows("select id from raw.service_reminder_events")}
    assert any(item.number > 1 for item in attempts)
