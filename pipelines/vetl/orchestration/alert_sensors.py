"""Sensors that send the alerts about failed runs.

An alert quotes vetl's own errors, which never hold a secret or personal data. Of other exceptions it names only
the class. An alert is known by its causes: the job and the step, and for checks the check and the practice.
"""

import json
import re
from collections.abc import Sequence, Set as AbstractSet
from typing import Any

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

from vetl.notices.alerts import Alert, Channel, channels, send_news
from vetl.orchestration.checks import CAUSES
from vetl.orchestration.resources import VetlResource, sensor_status
from vetl.settings.core_sections import AlertSettings, ScheduleSettings

_STATE = "vetl/alerts"
"""The key of the causes that were sent, in Dagster's store of cursors: JSON, by job, with the time of each."""

_NO_STEP = "the run ended before any step"
_NUMBERS = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?|(?<=PID )\d+|\d[\d.,]*(?= [a-z])")
"""Times, ages and counts, which differ each time the same thing fails."""


def alert_sensors(schedule: ScheduleSettings, more: Sequence[Channel]) -> list[dg.SensorDefinition]:
    """Return the sensors of failed and of succeeding runs; `more` are channels of the user's own."""
    often: Any = {"minimum_interval_seconds": 30, "default_status": sensor_status(schedule)}

    @dg.run_failure_sensor(**often, description="Sends an alert for each failed run, as [alerts] configures.")
    def alerts(context: dg.RunFailureSensorContext, vetl: VetlResource) -> dg.SkipReason | None:
        return _report(context, vetl.settings().alerts, more, *alert_of(context))

    @dg.run_status_sensor(
        **often,
        run_status=dg.DagsterRunStatus.SUCCESS,
        description="Says on the same channels that a job succeeds again after an alert about it.",
    )
    def well_again(context: dg.RunStatusSensorContext, vetl: VetlResource) -> dg.SkipReason | None:
        alert = Alert(context.dagster_run.job_name, context.dagster_run.run_id, ())
        return _report(context, vetl.settings().alerts, more, alert, frozenset(), None)

    return [alerts, well_again]


def _report(
    context: dg.RunStatusSensorContext,
    settings: AlertSettings,
    more: Sequence[Channel],
    alert: Alert,
    causes: AbstractSet[str],
    judged: AbstractSet[str] | None,
) -> dg.SkipReason | None:
    """Send what is new, and keep when it was sent."""
    used = [*channels(settings), *more]
    if not used:
        return dg.SkipReason("no channel is configured in [alerts]")
    storage = context.instance.daemon_cursor_storage
    sent: dict[str, dict[str, float]] = json.loads(storage.get_cursor_values({_STATE}).get(_STATE, "{}"))
    kept = send_news(used, alert, causes, judged, sent.get(alert.job, {}), settings.repeat_hours)
    if kept is None:
        return dg.SkipReason(f"no cause of {alert.job} is new, due again or over")
    storage.set_cursor_values({_STATE: json.dumps({**sent, alert.job: kept})})
    return None


def alert_of(context: dg.RunFailureSensorContext) -> tuple[Alert, set[str], set[str]]:
    """Return the alert for a failed run, its causes, and the steps whose checks were run to their end.

    A cause is `step: check practice` of a check, else the step and its words.
    """
    lines, causes, judged = list[str](), set[str](), set[str]()
    for event in context.get_step_failure_events():
        own, step = event.step_failure_data.user_failure_data, str(event.step_key)
        words = (own.description if own else None) or _kind(event.step_failure_data.error) or "failed"
        lines.append(f"{step}: {words}")
        named = own.metadata.get(CAUSES) if own else None
        if named is not None and isinstance(named.value, list):
            causes |= {f"{step}: {cause}" for cause in named.value}
            judged.add(step)
        else:
            causes.add(f"{step}: {_NUMBERS.sub('#', words)}")
    run = context.dagster_run
    return Alert(run.job_name, run.run_id, tuple(lines) or (_NO_STEP,)), causes or {_NO_STEP}, judged


def _kind(error: SerializableErrorInfo | None) -> str | None:
    """Return the class of the exception that Dagster's own wraps."""
    while error is not None and error.cause is not None:
        error = error.cause
    return error.cls_name if error else None
