"""A refused run changes nothing; a signal ends a command in order, whichever error it causes."""

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from support.deliveries import body_of, reminder

from pipelines.cli.app import execute
from pipelines.partner.webhooks import Channel
from pipelines.receiving.inbox import Entry, Inbox

SETTINGS = """
[partner]
base_url = "http://127.0.0.1:9"
[warehouse]
path = "vetl.duckdb"
published = "analytics.duckdb"
[webhooks]
inbox = "inbox.sqlite"
[[practices]]
id = "loc-001"
name = "Harbor"
time_zone = "America/New_York"
history_start = 2026-01-01
"""


def test_a_run_of_an_unknown_practice_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The inbox is not drained, and no mart is built or published."""
    monkeypatch.chdir(tmp_path)
    Path("vetl.toml").write_text(SETTINGS, "utf-8")
    with Inbox.open(Path("inbox.sqlite")) as inbox:
        inbox.keep([Entry(Channel.SERVICE_REMINDERS, "loc-001", body_of(reminder()), datetime.now(UTC))])

    assert execute(["run", "--practice", "loc-01"]) == 2

    assert capsys.readouterr().err == "vetl: practice loc-01 is not configured; known are loc-001\n"
    with Inbox.open(Path("inbox.sqlite")) as inbox:
        assert len(inbox.waiting(10)) == 1
    assert not Path("vetl.duckdb").exists()


@pytest.mark.usefixtures("empty_folder", "configured")
def test_an_interrupt_with_a_failing_cleanup_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> int:
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError("the connection is closed")

    monkeypatch.setattr("pipelines.cli.lake.export", fails)

    assert execute(["lake", "export"]) == 130
    assert capsys.readouterr().err == "vetl: interrupted. Progress saved; run again to continue\n"


@pytest.mark.usefixtures("empty_folder", "configured")
def test_an_interrupt_that_duckdb_met_is_an_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> int:
        raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")

    monkeypatch.setattr("pipelines.cli.status.status", fails)

    assert execute(["status"]) == 130
    assert capsys.readouterr().err == "vetl: interrupted\n"
