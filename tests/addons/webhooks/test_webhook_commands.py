"""`vetl webhooks` as an operator uses it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import vetl_sandbox
from support.deliveries import body_of, message
from support.webhook_side import WebhookSide
from vetl.cli import app
from vetl.core.pages import Changes
from vetl.endpoints import REGISTRY
from vetl.jobs.drain import run_drain
from vetl.partner import webhooks
from vetl.partner.webhooks import Channel
from vetl.receiving.inbox import Entry, Inbox
from vetl.settings import load_settings
from vetl.store.warehouse import Warehouse

pytestmark = pytest.mark.usefixtures("empty_folder", "configured", "warehouse")


@pytest.fixture
def warehouse() -> None:
    """A warehouse, which the first sync would make, without a row."""
    Warehouse.open(Path("warehouse/data/vetl.duckdb"), REGISTRY, lock_wait_seconds=0).close()


def receive(*bodies: bytes) -> None:
    at = datetime(2026, 3, 1, 10, tzinfo=UTC)
    with Inbox.open(Path("warehouse/data/inbox.sqlite")) as inbox:
        inbox.keep([Entry(Channel.MESSAGES, "loc-001", body, at) for body in bodies])


def test_serving_without_a_secret_is_a_wrong_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["webhooks", "serve"]) == 2

    assert capsys.readouterr().err.startswith("vetl: VETL_WEBHOOKS__SECRETS: not set")


def test_draining_without_a_platform_reports_the_skipped_reads(capsys: pytest.CaptureFixture[str]) -> None:
    receive(body_of(message()))

    assert app.execute(["webhooks", "drain", "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert (report["deliveries"], report["changes"]["inserted"], report["exit_code"]) == (1, 2, 0)
    assert "VETL_PARTNER__BASE_URL" in report["notes"][0]


def test_a_platform_that_refuses_us_costs_the_catching_up_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    receive(body_of(message()))
    with vetl_sandbox.running(practices=1, days=1, calls=1, frozen=True) as platform:
        for key, value in {"base_url": platform.base_url, "username": "x", "password": "y", "role": "z"}.items():
            monkeypatch.setenv(f"VETL_PARTNER__{key.upper()}", value)
        code = app.execute(["webhooks", "drain", "--json"])

    report = json.loads(capsys.readouterr().out)
    assert (code, report["exit_code"], report["deliveries"]) == (3, 3, 1)
    assert report["notes"][0].startswith("not caught up: ")


def test_messages_are_got_by_ids_that_are_given_whosever_they_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with vetl_sandbox.running(practices=2, days=1, calls=1, frozen=True) as platform:
        side = WebhookSide(platform, tmp_path, tmp_path / "inbox.sqlite")
        side.into_sending_hours()
        sent = [side.send_message(12, "loc-001"), side.send_message(13, "loc-002")]
        ids = [identity for _, identity in sent]
        result = run_drain(side.settings, catch_up=False, messages=[*ids, "nobody", ids[0]])

        assert side.truth(sent) == side.messages()
        assert (result.exit_code, result.notes) == (3, ("message nobody: no practice has it",))
        assert run_drain(side.settings, catch_up=False, messages=ids).changes == Changes(unchanged=2)

    assert app.execute(["webhooks", "drain", "--message", "m-1"]) == 2
    assert "VETL_PARTNER__BASE_URL" in capsys.readouterr().err


def test_a_quarantined_delivery_comes_in_once_it_is_understood(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """This happens after an update of vetl, here of its rules for an id and a time."""
    receive(
        body_of(message("m-1", occurred_at="soon")),
        body_of({"message": "m-2", "status": "sent", "clinic_id": "loc-001"}),
        b"not JSON",
    )
    assert app.execute(["webhooks", "drain", "--no-catch-up"]) == 3
    assert "quarantined" in capsys.readouterr().out
    assert app.execute(["quarantine", "retry"]) == 3
    assert status_of(capsys)["inbox"]["quarantined"] == 3

    # The platform sends the first delivery again, correctly; vetl learns to read the second.
    Path("warehouse/data/inbox.sqlite").unlink()
    receive(body_of(message("m-1")))
    app.execute(["webhooks", "drain", "--no-catch-up"])

    def id_of(payload: dict[str, Any]) -> str:
        return payload.get("id") or payload["message"]

    monkeypatch.setattr(webhooks, "_message_id", id_of)
    assert app.execute(["quarantine", "retry", "--json"]) == 3

    after = status_of(capsys)
    assert after["inbox"]["quarantined"] == 1
    assert {item["endpoint"]: item["rows"] for item in after["lists"]} == {"message_events": 2, "messages": 2}


def status_of(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    app.execute(["status", "--json"])
    return json.loads(capsys.readouterr().out)


def test_status_shows_waiting_and_quarantined_deliveries(capsys: pytest.CaptureFixture[str]) -> None:
    receive(body_of(message("m-1")), b"not JSON")

    before = status_of(capsys)
    assert before["lists"] == []
    assert (before["inbox"]["waiting"], before["inbox"]["oldest"]) == (2, "2026-03-01T10:00:00Z")
    assert (before["inbox"]["quarantined"], before["inbox"]["error"]) == (0, None)

    app.execute(["webhooks", "drain", "--no-catch-up"])
    receive(b"nor this")
    after = status_of(capsys)

    assert (after["inbox"]["waiting"], after["inbox"]["quarantined"]) == (1, 1)
    assert {item["endpoint"]: (item["rows"], item["quarantined"]) for item in after["lists"]} == {
        "message_events": (1, 1),
        "messages": (1, 0),
    }
    assert app.execute(["status"]) == 3
    assert "03-01 10:00" in capsys.readouterr().out


def test_status_needs_no_inbox_and_outlives_a_broken_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.execute(["status"]) == 1
    assert "nothing has been synced yet" in capsys.readouterr().err

    receive(b"not JSON")
    app.execute(["webhooks", "drain", "--no-catch-up"])
    capsys.readouterr()
    inbox = Path("warehouse/data/inbox.sqlite")
    inbox.write_bytes(b"something else, and long enough to be looked at" * 100)

    assert app.execute(["status", "--json"]) == 1
    assert "file is not a database" in json.loads(capsys.readouterr().out)["inbox"]["error"]


def test_status_answers_while_the_inbox_and_the_warehouse_are_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    receive(body_of(message()))
    app.execute(["webhooks", "drain", "--no-catch-up"])
    settings = load_settings()
    with (
        Warehouse.open(settings.warehouse.path, REGISTRY, lock_wait_seconds=0),
        Inbox.open(settings.webhooks.inbox) as inbox,
    ):
        inbox._connection.execute("begin immediate")  # pyright: ignore[reportPrivateUsage] - a commit on its way
        assert status_of(capsys)["inbox"]["waiting"] == 0
        inbox._connection.execute("rollback")  # pyright: ignore[reportPrivateUsage]
