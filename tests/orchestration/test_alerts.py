"""A failed run is reported once on every configured channel; real servers receive the reports."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.hook_receiver import receiving
from support.mail_server import mail_server
from support.practice_site import vetl_resource
from vetl.core.errors import ConfigurationError
from vetl.orchestration import alerts
from vetl.orchestration.alerts import Alert, alert_of, alerts_sensor
from vetl.settings import load_settings
from vetl.settings.schedule import AlertSettings, ScheduleSettings


def fail(instance: dg.DagsterInstance, error: Exception) -> Any:
    """Return the sensor's context of a run that failed with that error."""

    @dg.op
    def broken() -> None:
        raise error

    @dg.job(name="everything")
    def job() -> None:
        broken()

    result = job.execute_in_process(instance=instance, raise_on_error=False)
    [event] = [item for item in result.all_events if item.is_run_failure]
    return dg.build_run_status_sensor_context(
        sensor_name="alerts", dagster_event=event, dagster_instance=instance, dagster_run=result.dagster_run
    ).for_run_failure()


def test_a_failed_run_is_posted_once_until_it_fails_for_another_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sensor = alerts_sensor(ScheduleSettings(), ())
    with receiving() as hook, dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setenv("VETL_ALERTS__WEBHOOK", hook.url)
        for reason in ("loc-1: 403", "loc-1: 403", "loc-1: 500"):
            sensor(fail(instance, dg.Failure(reason)), vetl=vetl_resource(tmp_path))

    assert [body["text"].splitlines()[:2] for body in hook.bodies] == [
        ["vetl: everything failed", "- broken: loc-1: 403"],
        ["vetl: everything failed", "- broken: loc-1: 500"],
    ]


def test_of_an_unexpected_exception_only_its_kind_is_sent() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        assert alert_of(fail(instance, ValueError("+1 555 0100"))).failures == ("broken: ValueError",)


def test_an_alert_is_sent_by_e_mail() -> None:
    with mail_server() as mailbox:
        settings = AlertSettings(email_to=("ops@example.com",), smtp_host="127.0.0.1", smtp_port=mailbox.port)
        alerts.mail(settings, Alert("everything", "4711", ("sync: no connection",)))

    [mail] = mailbox.messages
    assert (mail["Subject"], mail["To"]) == ("vetl: everything failed", "ops@example.com")
    assert "- sync: no connection" in mail.get_content()


def test_a_custom_channel_gets_the_alert_although_another_channel_fails(tmp_path: Path) -> None:
    received: list[Alert] = []

    def dead(_: Alert) -> None:
        raise OSError("no route")

    sensor = alerts_sensor(ScheduleSettings(), (dead, received.append))
    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(OSError, match="no route"):
        sensor(fail(instance, dg.Failure("loc-1: 403")), vetl=vetl_resource(tmp_path))

    assert [alert.job for alert in received] == ["everything"]


def test_an_address_with_its_secret_is_refused_in_the_file(tmp_path: Path) -> None:
    config = tmp_path / "vetl.toml"
    config.write_text("[alerts]\nwebhook = 'https://hooks.example.com/T0/secret'\n")

    with pytest.raises(ConfigurationError, match="VETL_ALERTS__WEBHOOK"):
        load_settings(config)
