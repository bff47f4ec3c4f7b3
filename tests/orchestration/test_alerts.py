"""A failed run is reported once on every configured channel; real servers receive the reports."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.hook_receiver import receiving
from support.mail_server import mail_server
from support.practice_site import vetl_resource
from vetl import notices
from vetl.notices import Alert, payload, written
from vetl.orchestration.checks import CAUSES
from vetl.orchestration.schedules import alert_of, alert_sensors
from vetl.settings.core_sections import AlertSettings, ScheduleSettings


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


def succeed(instance: dg.DagsterInstance) -> Any:
    """Return the sensor's context of a run of the same job that succeeded."""

    @dg.job(name="everything")
    def job() -> None: ...

    result = job.execute_in_process(instance=instance)
    [event] = [item for item in result.all_events if item.event_type is dg.DagsterEventType.RUN_SUCCESS]
    return dg.build_run_status_sensor_context(
        sensor_name="well_again", dagster_event=event, dagster_instance=instance, dagster_run=result.dagster_run
    )


def test_a_failed_run_is_posted_once_until_it_fails_for_another_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sensor, _ = alert_sensors(ScheduleSettings(), ())
    with receiving() as hook, dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setenv("VETL_ALERTS__WEBHOOK", hook.url)
        for reason in ("loc-1: 403", "loc-1: 403", "loc-1: 500"):
            sensor(fail(instance, dg.Failure(reason)), vetl=vetl_resource(tmp_path))

    assert [body["text"].splitlines()[:2] for body in hook.bodies] == [
        ["vetl: everything failed", "- broken: loc-1: 403"],
        ["vetl: everything failed", "- broken: loc-1: 500"],
    ]


def of_checks(age: str, *causes: str) -> dg.Failure:
    metadata = {CAUSES: dg.MetadataValue.json(list(causes))}
    return dg.Failure(f"loc-1: a list is not fresh; last read 2026-01-05 12:00 UTC: {age}", metadata=metadata)


def test_alerts_are_told_apart_by_cause_and_end_with_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The age of a stale list was part of the failure's text, so that a stale practice was sent each hour."""
    failed, well = alert_sensors(ScheduleSettings(), ())
    with receiving() as hook, dg.DagsterInstance.ephemeral() as instance:
        monkeypatch.setenv("VETL_ALERTS__WEBHOOK", hook.url)
        vetl = vetl_resource(tmp_path)
        for reason in (
            of_checks("4.1 opening hours", "fresh loc-1"),
            of_checks("5.1 opening hours", "fresh loc-1"),
            of_checks("6.1 opening hours", "fresh loc-1", "fresh loc-2"),
            of_checks("7.1 opening hours", "fresh loc-2"),
            dg.Failure("sign-in: no answer after 31.2 s (6 attempts)"),
            dg.Failure("sign-in: no answer after 29.9 s (5 attempts)"),
        ):
            failed(fail(instance, reason), vetl=vetl)
        for _ in range(2):
            well(succeed(instance), vetl=vetl)

    lines = [body["text"].splitlines() for body in hook.bodies]
    assert [line[0].removeprefix("vetl: everything ") for line in lines] == [
        *("failed", "failed", "is well again", "failed", "is well again")
    ]
    assert lines[2][1] == "- broken: fresh loc-1"


def test_pagerduty_gets_one_incident_until_it_is_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    posted: list[dict[str, Any]] = []

    def post(address: str, text: str, **about: Any) -> None:
        posted.append(payload(address, text, **about))

    monkeypatch.setattr(notices, "post_text", post)
    monkeypatch.setenv("VETL_ALERTS__WEBHOOK", "https://events.pagerduty.com/v2/enqueue?routing_key=R0")
    failed, well = alert_sensors(ScheduleSettings(), ())
    with dg.DagsterInstance.ephemeral() as instance:
        vetl = vetl_resource(tmp_path)
        for causes in (("fresh loc-1", "fresh loc-2"), ("fresh loc-2",)):
            failed(fail(instance, of_checks("4.1 opening hours", *causes)), vetl=vetl)
        well(succeed(instance), vetl=vetl)

    assert [event["event_action"] for event in posted] == ["trigger", "trigger", "resolve"]
    assert {(event["routing_key"], event["dedup_key"]) for event in posted} == {("R0", "vetl everything")}
    assert posted[0]["payload"]["summary"] == "vetl: everything failed"
    assert posted[0]["payload"]["custom_details"]["text"].startswith("- broken: loc-1: a list is not fresh")


def test_of_an_unexpected_exception_only_its_kind_is_sent() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        assert alert_of(fail(instance, ValueError("+1 555 0100")))[0].failures == ("broken: ValueError",)


def test_an_alert_is_sent_by_e_mail() -> None:
    with mail_server() as mailbox:
        settings = AlertSettings(email_to=("ops@example.com",), smtp_host="127.0.0.1", smtp_port=mailbox.port)
        notices.mail(settings, Alert("everything", "4711", ("sync: no connection",)))

    [mail] = mailbox.messages
    assert (mail["Subject"], mail["To"]) == ("vetl: everything failed", "ops@example.com")
    assert "- sync: no connection" in mail.get_content()


def test_names_steer_neither_a_chat_nor_the_headers_of_a_mail() -> None:
    name = "Paws <!channel> <http://a.example|b> [b](http://a.example) @here"

    [said] = payload("https://hooks.slack.com/T0/x", f"{name} & co").values()
    card = str(payload("https://x.webhook.office.com/y", name))
    mail = written(f"{name}\nBcc: all@example.com", "vetl@localhost", ["ops@example.com"])

    shown = "Paws &lt;!channel&gt; &lt;http://a.example|b&gt; [b] (http://a.example) @\u200bhere &amp; co"
    assert said == shown
    assert ("](" in card, "@here" in card) == (False, False)
    assert mail["Subject"] == f"{name} Bcc: all@example.com"
    assert mail["Bcc"] is None


def test_a_custom_channel_gets_the_alert_although_another_channel_fails(tmp_path: Path) -> None:
    received: list[Alert] = []

    def dead(_: Alert) -> None:
        raise OSError("no route")

    sensor, _ = alert_sensors(ScheduleSettings(), (dead, received.append))
    with dg.DagsterInstance.ephemeral() as instance, pytest.raises(OSError, match="no route"):
        sensor(fail(instance, dg.Failure("loc-1: 403")), vetl=vetl_resource(tmp_path))

    assert [alert.job for alert in received] == ["everything"]
