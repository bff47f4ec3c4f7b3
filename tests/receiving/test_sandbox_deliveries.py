"""The sandbox sends, the receiver keeps, drain stores: in the end raw equals what the platform holds."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest
from pydantic import SecretStr
from support.deliveries import body_of, message, signed
from support.partner_side import ROOT, Partner
from support.receiver_process import served

import sandbox
from pipelines.drain_job import run_drain
from pipelines.errors import InboxError
from pipelines.partner.webhooks import Secret
from pipelines.practice import Practice
from pipelines.receiving.admission import Trust
from pipelines.receiving.app import application
from pipelines.receiving.group_commit import GroupCommit
from pipelines.receiving.inbox import Entry, Inbox
from pipelines.settings import PartnerSettings, Settings, WarehouseSettings, WebhooksSettings

TOLD = ("id", "status", "status_reason", "channel_used", "error_code")


class Forgetful:
    """An inbox that keeps every second batch, but says that it could not."""

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


class Side:
    """A platform whose webhooks reach a receiver, and a warehouse."""

    def __init__(self, platform: sandbox.Handle, inbox: Forgetful, address: str, folder: Path) -> None:
        self.platform = platform
        self.inbox = inbox
        self.address = address
        self.partner = Partner(platform)
        self.settings = Settings(
            partner=PartnerSettings(
                base_url=platform.base_url,
                username=SecretStr(platform.username),
                password=SecretStr(platform.password),
                role=platform.role,
            ),
            warehouse=WarehouseSettings(path=folder / "vetl.duckdb", lock_wait_seconds=0),
            webhooks=WebhooksSettings(inbox=folder / "inbox.sqlite"),
            practices=tuple(
                Practice(item.id, item.name, item.time_zone, date(2025, 1, 1)) for item in platform.practices
            ),
        )

    def send_message(self, number: int) -> str:
        """Text somebody; the last digits of the number decide what becomes of it."""
        recipient = {"phone_number": f"+121255501{number:02}"}
        answer = self.partner.http.post(
            f"{ROOT}/messages", json={"recipient": recipient, "fallback_text": "Rex is due."}
        )
        assert answer.status_code in (200, 201), answer.text
        return answer.json()["data"]["id"]

    def truth(self, ids: list[str]) -> list[tuple[Any, ...]]:
        self.partner.sign_in()
        rows = [self.partner.page(f"messages/{identity}") for identity in ids]
        return sorted(tuple(row[name] for name in TOLD) for row in rows)

    def messages(self) -> list[tuple[Any, ...]]:
        return sorted(self.rows(f"select {', '.join(TOLD)} from raw.messages"))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(self.settings.warehouse.path, read_only=True) as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    with ExitStack() as stack:
        platform = stack.enter_context(sandbox.running(practices=2, days=5, calls=50, frozen=True, seed=3))
        inbox = Forgetful(stack.enter_context(Inbox.open(tmp_path / "inbox.sqlite")))
        # The old secret is still active: the platform signs with the new one.
        trust = Trust((Secret("rotated-away"), Secret(platform.webhook_secret)))
        address = stack.enter_context(served(application(trust, GroupCommit(inbox), inbox.inbox.backlog)))
        platform.set(webhooks_to=f"{address}/webhooks")
        into_sending_hours(platform)
        yield Side(platform, inbox, address, tmp_path)


def into_sending_hours(platform: sandbox.Handle) -> None:
    """8am to 9pm in every practice's own time (contract: Limits): noon in the middle of the continent."""
    hours = (18 - platform.now().hour) % 24
    platform.advance(timedelta(hours=hours))


NUMBERS = (0, 1, 2, 4, 6, 12, 13, 15, 16, 18)


@pytest.mark.parametrize("failing", [False, True], ids=["at the first attempt", "with repeated attempts"])
def test_raw_equals_what_the_platform_holds(side: Side, failing: bool) -> None:  # noqa: FBT001 - a case
    side.inbox.failing = failing
    ids = [side.send_message(number) for number in NUMBERS]
    side.platform.advance(timedelta(hours=30))

    result = run_drain(side.settings)

    assert result.notes == ()
    assert result.changes.quarantined == 0
    assert side.truth(ids) == side.messages()
    attempts = side.platform.platform.events.deliveries.log
    told = {(item.payload["id"], item.payload["status"]) for item in attempts if item.kind == "messages"}
    assert told == set(side.rows("select message_id, status from raw.message_events"))
    ended = {item.payload["request_id"]: item.payload for item in attempts if item.kind == "ai_outbound"}
    assert ended
    assert sorted(
        (identity, item["status"], item["outcome"], (item["outcome_detail"] or {}).get("appointment_id"))
        for identity, item in ended.items()
    ) == sorted(side.rows("select request_id, status, outcome, appointment_id from raw.outreach_events"))
    reminded = [item.payload["id"] for item in attempts if item.kind == "service_reminders"]
    assert reminded
    assert set(reminded) == {identity for (identity,) in side.rows("select id from raw.service_reminder_events")}
    assert any(item.number > 1 for item in attempts) is failing


def test_what_a_deaf_receiver_missed_is_caught_up(side: Side) -> None:
    """Three attempts, then the status is not told again; get-message tells it."""
    ids = [side.send_message(number) for number in NUMBERS]
    side.platform.advance(timedelta(seconds=1))
    side.platform.set(webhooks_to="http://127.0.0.1:9/webhooks")
    side.platform.advance(timedelta(hours=1))

    result = run_drain(side.settings)

    assert result.asked > 0
    assert side.truth(ids) == side.messages()


def test_forged_and_replayed_bodies_change_nothing(side: Side) -> None:
    ids = [side.send_message(12)]
    side.platform.advance(timedelta(minutes=10))
    for attempt in side.platform.platform.events.deliveries.log:
        body = body_of(attempt.payload)
        again = httpx.post(attempt.url, content=body, headers=signed(body, side.platform.webhook_secret))
        forged = httpx.post(attempt.url, content=body, headers=signed(body, "made-up"))
        assert (again.status_code, forged.status_code) == (200, 401)
    body = body_of(message(ids[0], "failed"))
    assert httpx.post(f"{side.address}/webhooks/messages", content=body).status_code == 401

    run_drain(side.settings)

    assert side.truth(ids) == side.messages()
    assert ("failed",) not in side.rows("select status from raw.message_events")
