"""A failed run is reported once on every configured channel; real servers receive the reports."""

import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from pipelines.core.errors import ConfigurationError
from pipelines.orchestration import alerts
from pipelines.orchestration.alerts import Alert, alert_of, alerts_sensor
from pipelines.orchestration.resources import VetlResource
from pipelines.settings import load_settings
from pipelines.settings.schedule import AlertSettings, ScheduleSettings


@pytest.fixture
def posted() -> Iterator[tuple[str, list[Any]]]:
    """Provide a webhook's address, and the bodies that were posted to it."""
    bodies: list[Any] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002 - its name in the base class

    with HTTPServer(("127.0.0.1", 0), Taking) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/hook", bodies
        server.shutdown()


@pytest.fixture
def mailed() -> Iterator[tuple[int, list[str]]]:
    """Provide the port of a mail server, and the messages that it received."""
    messages: list[str] = []

    class Taking(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline().strip().upper():
                if line.startswith(b"DATA"):
                    self.wfile.write(b"354 go on\r\n")
                    messages.append("")
                    while (text := self.rfile.readline()) != b".\r\n":
                        messages[-1] += text.decode()
                self.wfile.write(b"221 bye\r\n" if line == b"QUIT" else b"250 ok\r\n")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Taking) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1], messages
        server.shutdown()


def vetl(folder: Path) -> VetlResource:
    config = folder / "vetl.toml"
    config.write_text("")
    return VetlResource(config=str(config))


def fail(instance: dg.DagsterInstance, reason: str) -> Any:
    """Return the sensor's context of a run that failed for that reason."""

    @dg.op
    def broken() -> None:
        raise dg.Failure(reason)

    @dg.job(name="everything")
    def job() -> None:
        broken()

    result = job.execute_in_process(instance=instance, raise_on_error=False)
    [event] = [item for item in result.all_events if item.is_run_failure]
    return dg.build_run_status_sensor_context(
        sensor_name="alerts", dagster_event=event, dagster_instance=instance, dagster_run=result.dagster_run
    ).for_run_failure()


def test_a_failed_run_is_posted_once_until_it_fails_for_another_reason(
    posted: tuple[str, list[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, bodies = posted
    monkeypatch.setenv("VETL_ALERTS__WEBHOOK", address)
    sensor = alerts_sensor(ScheduleSettings(), ())
    with dg.DagsterInstance.ephemeral() as instance:
        for reason in ("loc-1: 403", "loc-1: 403", "loc-1: 500"):
            sensor(fail(instance, reason), vetl=vetl(tmp_path))

    assert [body["text"].splitlines()[:2] for body in bodies] == [
        ["vetl: everything failed", "- broken: loc-1: 403"],
        ["vetl: everything failed", "- broken: loc-1: 500"],
    ]


def test_of_an_unexpected_exception_only_its_kind_is_sent() -> None:
    @dg.op
    def leaking() -> None:
        raise ValueError("+1 555 0100")

    @dg.job(name="everything")
    def job() -> None:
        leaking()

    with dg.DagsterInstance.ephemeral() as instance:
        result = job.execute_in_process(instance=instance, raise_on_error=False)
        [event] = [item for item in result.all_events if item.is_run_failure]
        context = dg.build_run_status_sensor_context(
            sensor_name="alerts", dagster_event=event, dagster_instance=instance, dagster_run=result.dagster_run
        ).for_run_failure()

        assert alert_of(context).failures == ("leaking: ValueError",)


def test_an_alert_is_sent_by_e_mail(mailed: tuple[int, list[str]]) -> None:
    port, messages = mailed
    settings = AlertSettings(email_to=("ops@example.com",), smtp_host="127.0.0.1", smtp_port=port)

    alerts.mail(settings, Alert("everything", "4711", ("sync: no connection",)))

    assert "Subject: vetl: everything failed" in messages[0]
    assert "To: ops@example.com" in messages[0]
    assert "- sync: no connection" in messages[0]


def test_a_custom_channel_gets_the_alert_although_another_channel_fails(tmp_path: Path) -> None:
    received: list[Alert] = []

    def dead(_: Alert) -> None:
        raise OSError("no route")

    sensor = alerts_sensor(ScheduleSettings(), (dead, received.append))
    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(OSError, match="no route"):
        sensor(fail(instance, "loc-1: 403"), vetl=vetl(tmp_path))

    assert [alert.job for alert in received] == ["everything"]


def test_an_address_with_its_secret_is_refused_in_the_file(tmp_path: Path) -> None:
    config = tmp_path / "vetl.toml"
    config.write_text("[alerts]\nwebhook = 'https://hooks.example.com/T0/secret'\n")

    with pytest.raises(ConfigurationError, match="VETL_ALERTS__WEBHOOK"):
        load_settings(config)
