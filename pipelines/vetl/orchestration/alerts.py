"""Alerts for failed runs: by webhook, by e-mail, or by channels of the user's own.

An alert quotes vetl's own errors, which never hold a secret or personal data. Of other exceptions it names only
the class. The same failure of a job is sent once, and again after `repeat_hours`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from hashlib import sha256

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

from vetl.notices.mail import send_mail
from vetl.notices.webhook import post_text
from vetl.orchestration.resources import VetlResource
from vetl.settings.schedule import AlertSettings, ScheduleSettings

_TAG = "vetl/alerted"
_LOOKED_BACK = 200


@dataclass(frozen=True, slots=True)
class Alert:
    """The message about one failed run."""

    job: str
    run_id: str
    failures: tuple[str, ...]

    @property
    def subject(self) -> str:
        """Return the first line."""
        return f"vetl: {self.job} failed"

    @property
    def text(self) -> str:
        """Return the whole message."""
        return "\n".join((self.subject, *(f"- {line}" for line in self.failures), f"Dagster run {self.run_id}"))


Channel = Callable[[Alert], None]
"""Sends an alert; raises an exception if it cannot."""


def channels(settings: AlertSettings) -> list[Channel]:
    """Return the channels that `[alerts]` configures."""
    configured: list[Channel] = []
    if settings.webhook:
        address = settings.webhook.get_secret_value()
        configured.append(lambda alert: post_text(address, alert.text))
    if settings.email_to:
        configured.append(lambda alert: mail(settings, alert))
    return configured


def mail(settings: AlertSettings, alert: Alert) -> None:
    """Send an alert by SMTP; beyond this machine over TLS."""
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = (
        alert.subject,
        settings.email_from,
        ", ".join(settings.email_to),
    )
    message.set_content(alert.text)
    send_mail(settings, message)


def alerts_sensor(schedule: ScheduleSettings, more: Sequence[Channel]) -> dg.SensorDefinition:
    """Return the sensor that sends an alert for each failed run; `more` are channels of the user's own."""

    @dg.run_failure_sensor(
        name="alerts",
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING if schedule.start else dg.DefaultSensorStatus.STOPPED,
        description="Sends an alert for each failed run, as [alerts] configures.",
    )
    def alerts(context: dg.RunFailureSensorContext, vetl: VetlResource) -> dg.SkipReason | None:
        settings = vetl.settings().alerts
        alert = alert_of(context)
        used = [*channels(settings), *more]
        if not used:
            return dg.SkipReason("no channel is configured in [alerts]")
        mark = sha256("\n".join(alert.failures).encode()).hexdigest()[:16]
        if _was_sent(context, mark, settings.repeat_hours):
            return dg.SkipReason(f"the same failure of {alert.job} was sent within {settings.repeat_hours:g} h")
        _send(used, alert)
        context.instance.add_run_tags(alert.run_id, {_TAG: mark})
        return None

    return alerts


def alert_of(context: dg.RunFailureSensorContext) -> Alert:
    """Return the alert for a failed run, with a line for each failed step."""
    lines: list[str] = []
    for event in context.get_step_failure_events():
        data = event.step_failure_data
        description = data.user_failure_data.description if data.user_failure_data else None
        lines.append(f"{event.step_key}: {description or _kind(data.error) or 'failed'}")
    return Alert(
        context.dagster_run.job_name,
        context.dagster_run.run_id,
        tuple(lines) or ("the run ended before any step",),
    )


def _kind(error: SerializableErrorInfo | None) -> str | None:
    """Return the class of the exception that Dagster's own wraps."""
    while error is not None and error.cause is not None:
        error = error.cause
    return error.cls_name if error else None


def _was_sent(context: dg.RunFailureSensorContext, mark: str, within_hours: float) -> bool:
    """Return whether the same failure was sent within these hours, and the job has not succeeded since."""
    done = dg.RunsFilter(
        job_name=context.dagster_run.job_name, statuses=[dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
    )
    records = context.instance.get_run_records(done, limit=_LOOKED_BACK)
    ended = {record.dagster_run.run_id: record.end_time or 0.0 for record in records}
    now = ended.get(context.dagster_run.run_id, max(ended.values(), default=0.0))
    for record in records:
        run = record.dagster_run
        if run.run_id == context.dagster_run.run_id:
            continue
        if run.status is dg.DagsterRunStatus.SUCCESS or now - ended[run.run_id] > within_hours * 3600:
            return False
        if run.tags.get(_TAG) == mark:
            return True
    return False


def _send(used: Sequence[Channel], alert: Alert) -> None:
    """Send through every channel, then raise the first exception, if any."""
    failures: list[Exception] = []
    for channel in used:
        try:
            channel(alert)
        except Exception as error:  # noqa: BLE001 - channels are anybody's code
            failures.append(error)
    if failures:
        raise failures[0]
