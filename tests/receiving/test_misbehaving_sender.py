"""The platform's own sender at its worst, and others in its name, against `vetl webhooks serve` as a process.

The clock is the platform's, so an hour of deliveries takes a second.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from support.receiver_process import ReceiverProcess
from support.webhook_side import FALSE, NUMBERS, WebhookSide

import sandbox
from pipelines.jobs.drain import DrainResult, run_drain
from sandbox import WebhookFault
from sandbox.webhooks.faults import FORGED, HOSTILE, UNRELIABLE

SECRETS = {"loc-001": "the-first=secret", "loc-002": "the-second-secret=="}
"""Each bound to its practice."""


def bound(secrets: Mapping[str, str]) -> str:
    return ",".join(f"{practice}={secret}" for practice, secret in secrets.items())


RAW = ("messages", "message_events", "outreach_events", "service_reminder_events")


class Side(WebhookSide):
    """A platform whose receiver is a process."""

    def __init__(self, platform: sandbox.Handle, folder: Path, receiver: ReceiverProcess) -> None:
        super().__init__(platform, folder, receiver.inbox)
        self.receiver = receiver
        platform.set(webhook_secrets=SECRETS, webhooks_to=f"{receiver.url}/webhooks")

    def a_day(self, *faults: WebhookFault) -> list[tuple[str, str]]:
        """Cause texts to clients of both practices, some outreach, and a day of webhooks. Return the messages."""
        self.platform.webhook_faults.set(faults, seed=7)
        self.into_sending_hours()
        for practice in SECRETS:
            self.reach_out(practice)
        sent = [self.send_message(number, practice) for number in NUMBERS for practice in SECRETS]
        self.platform.advance(timedelta(hours=24))
        return sent

    def check_events(self) -> None:
        """Assert that raw has each acknowledged content once, and nothing else."""
        acknowledged = {
            (item["clinic_id"], item["id"], item["status"])
            for item in (attempt.payload for attempt in self.deliveries_of("messages"))
        }
        assert sorted(acknowledged) == sorted(
            self.rows("select practice_id, message_id, status from raw.message_events")
        )
        ended = {
            (
                item.payload["clinic_id"],
                item.payload["request_id"],
                item.payload["status"],
                item.payload["outcome"],
                (item.payload["outcome_detail"] or {}).get("appointment_id"),
            )
            for item in self.deliveries_of("ai_outbound")
        }
        assert any(appointment for *_, appointment in ended)
        columns = "practice_id, request_id, status, outcome, appointment_id"
        assert sorted(ended, key=str) == sorted(self.rows(f"select {columns} from raw.outreach_events"), key=str)
        reminded = {
            (item.payload["practice_id"], item.payload["id"], item.payload["group_status"])
            for item in self.deliveries_of("service_reminders")
        }
        assert reminded
        columns = "practice_id, id, group_status"
        assert sorted(reminded) == sorted(self.rows(f"select {columns} from raw.service_reminder_events"))

    def check_no_trace(self) -> None:
        """Assert that forged content is not in the inbox, the log, the warehouse or its tables."""
        mark = FORGED.encode()
        files = [file for file in self.receiver.folder.rglob("*") if file.is_file()]
        assert len(files) > 3
        assert [file.name for file in files if mark in file.read_bytes()] == []
        for table in (*(f"raw.{name}" for name in RAW), "control.quarantine", "control.schema_changes"):
            assert self.rows(f"select 1 from {table} as row where row::varchar like '%{FORGED}%'") == []


Opened = Callable[..., Side]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    with ExitStack() as stack:

        def open_side(secrets: str = bound(SECRETS)) -> Side:
            platform = stack.enter_context(sandbox.running(practices=2, days=5, calls=50, frozen=True, seed=3))
            receiver = stack.enter_context(ReceiverProcess(tmp_path, secrets))
            return Side(platform, tmp_path, receiver)

        yield open_side


def drained(side: Side) -> DrainResult:
    result = run_drain(side.settings)
    assert (result.notes, result.changes.quarantined, result.exit_code) == ((), 0, 0)
    return result


@pytest.mark.parametrize(
    "faults",
    [[], [WebhookFault("wrong_practice", share=0.2), *HOSTILE], UNRELIABLE],
    ids=["as ever", "hostile", "unreliable"],
)
def test_in_the_end_raw_equals_the_platform(opened: Opened, faults: Sequence[WebhookFault]) -> None:
    side = opened()
    sent = side.a_day(*faults)
    hits = side.platform.webhook_faults.hits
    assert set(hits) == {fault.kind for fault in faults}

    drained(side)

    # A message without any webhook is unknown; there is no list of messages.
    announced = {item.payload["id"] for item in side.deliveries_of("messages")}
    assert side.truth([item for item in sent if item[1] in announced]) == side.messages()
    side.check_events()
    attempts = side.platform.webhooks
    assert {item.status for item in attempts if item.fault in FALSE} <= {401, 403, 429}
    assert {item.status for item in attempts if item.fault not in (*FALSE, "answer_lost")} <= {200}
    side.receiver.stop()
    side.check_no_trace()


def test_a_delivery_signed_for_another_practice_is_refused_as_such(opened: Opened) -> None:
    side = opened()
    side.a_day(WebhookFault("wrong_practice", practice_id="loc-002"))

    wrong = [item.status for item in side.platform.webhooks if item.fault == "wrong_practice"]
    # True content of loc-002 has no fault, and comes twice.
    assert set(wrong) == {200, 403, 429}
    drained(side)
    side.check_events()


def test_statuses_without_a_webhook_are_caught_up(opened: Opened) -> None:
    side = opened()
    sent = side.a_day(WebhookFault("lost", path="messages", share=0.5))
    announced = {item.payload["id"] for item in side.deliveries_of("messages")}
    assert side.platform.webhook_faults.hits["lost"]

    assert drained(side).requested > 0

    assert (
        side.truth([(practice, identity) for practice, identity in sent if identity in announced])
        == side.messages()
    )


def test_while_a_secret_is_changed_nothing_is_lost(opened: Opened, tmp_path: Path) -> None:
    """Both secrets are active, then the platform changes, then the old secret is removed."""
    changed = {**SECRETS, "loc-001": "another"}
    side = opened(bound(SECRETS) + ",loc-001=another")
    sent = side.a_day()
    side.platform.set(webhook_secrets=changed)
    sent += side.a_day()
    side.receiver.stop()
    with ReceiverProcess(tmp_path, bound(changed)) as new:
        side.platform.set(webhooks_to=f"{new.url}/webhooks")
        sent += side.a_day()
        side.platform.set(webhook_secrets=SECRETS)
        before = len(side.platform.webhooks)
        side.a_day()

    after = {(item.status, item.payload.get("clinic_id")) for item in side.platform.webhooks[before:]}
    assert (401, "loc-001") in after
    assert (200, "loc-002") in after
    assert {item.status for item in side.platform.webhooks[:before]} == {200}
    drained(side)
    stored = {(practice, identity) for practice, identity, *_ in side.messages()}
    assert set(sent) <= stored
