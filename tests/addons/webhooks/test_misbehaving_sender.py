"""The platform's own sender at its worst, and others in its name, against `vetl webhooks serve` as a process.

The clock is the platform's, so an hour of deliveries takes a second.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
import vetl_sandbox
from support.receiver_process import ReceiverProcess
from support.webhook_side import FALSE, NUMBERS, WebhookSide
from vetl.jobs.drain import run_drain
from vetl_sandbox import WebhookFault
from vetl_sandbox.webhooks.faults import FORGED, HOSTILE, UNRELIABLE

SECRETS = {"loc-001": "the-first=secret", "loc-002": "the-second-secret=="}
"""Each bound to its practice."""
OUTREACH = "request_id, status, outcome, appointment_id"
EVENTS = {
    "messages": ("message_events", "practice_id, message_id, status", "clinic_id, id, status"),
    "ai_outbound": ("outreach_events", f"practice_id, {OUTREACH}", f"clinic_id, {OUTREACH}"),
    "service_reminders": ("service_reminder_events", *["practice_id, id, group_status"] * 2),
}
"""The table of each kind, its columns, and the fields of the webhook that they have."""
RAW = ("messages", *(table for table, *_ in EVENTS.values()))


class Side(WebhookSide):
    """A platform whose receiver is a process."""

    def __init__(self, platform: vetl_sandbox.Handle, folder: Path, receiver: ReceiverProcess) -> None:
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
        for kind, (table, columns, fields) in EVENTS.items():
            sent = (item.payload for item in self.deliveries_of(kind))
            flat = [payload | (payload.get("outcome_detail") or {}) for payload in sent]
            acknowledged = {tuple(payload.get(field) for field in fields.split(", ")) for payload in flat}
            stored = self.rows(f"select {columns} from raw.{table}")
            assert sorted(acknowledged, key=str) == sorted(stored, key=str) != []
        assert self.rows("select count(appointment_id) > 0 from raw.outreach_events") == [(True,)]

    def check_no_trace(self) -> None:
        """Assert that forged content is not in the inbox, the log, the warehouse or its tables."""
        mark = FORGED.encode()
        files = [file for file in self.receiver.folder.rglob("*") if file.is_file()]
        assert len(files) > 3
        assert [file.name for file in files if mark in file.read_bytes()] == []
        for table in (*(f"raw.{name}" for name in RAW), "control.quarantine", "control.schema_changes"):
            assert self.rows(f"select 1 from {table} as row where row::varchar like '%{FORGED}%'") == []


@pytest.fixture
def side(tmp_path: Path) -> Iterator[Side]:
    secrets = ",".join(f"{practice}={secret}" for practice, secret in SECRETS.items())
    with (
        vetl_sandbox.running(practices=2, days=5, calls=50, frozen=True, seed=3) as platform,
        ReceiverProcess(tmp_path, secrets) as receiver,
    ):
        yield Side(platform, tmp_path, receiver)


@pytest.mark.parametrize(
    ("faults", "refusals"),
    [([WebhookFault("wrong_practice", share=0.2), *HOSTILE], {401, 403}), (UNRELIABLE, set[int]())],
    ids=["hostile", "unreliable"],
)
def test_in_the_end_raw_equals_the_platform(
    side: Side, faults: Sequence[WebhookFault], refusals: set[int]
) -> None:
    sent = side.a_day(*faults)
    assert set(side.platform.webhook_faults.hits) == {fault.kind for fault in faults}

    result = run_drain(side.settings)

    assert (result.notes, result.changes.quarantined, result.exit_code) == ((), 0, 0)
    # A message without any webhook is unknown; there is no list of messages.
    announced = {item.payload["id"] for item in side.deliveries_of("messages")}
    assert side.truth([item for item in sent if item[1] in announced]) == side.messages()
    side.check_events()
    attempts = side.platform.webhooks
    # True content of a practice with the secret of another has no fault of its own, so that it may be taken.
    assert {item.status for item in attempts if item.fault in FALSE} - {200} == refusals
    assert {item.status for item in attempts if item.fault not in (*FALSE, "answer_lost")} <= {200}
    side.receiver.stop()
    side.check_no_trace()
