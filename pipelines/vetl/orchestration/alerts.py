"""Sensors that send the alerts about failed runs.

An alert quotes vetl's own errors, which never hold a secret or personal data. Of other exceptions it names only
the class. An alert is known by its causes: the job and the step, and for checks the check and the practice.
A cause is sent once, again after `repeat_hours`, and once more when it is over.
"""

import json
import re
import time
from collections.abc import Iterable, Sequence

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

from vetl.notices.alerts import Alert, Channel, channels, send
from vetl.orchestration.checks import CAUSES
from vetl.orchestration.resources import VetlResource, sensor_status
from vetl.settings.core_sections import ScheduleSettings

_STATE = "vetl/alerts"
"""The key of the causes that were sent, in Dagster's store of cursors: JSON, by job, with the time of each."""

_MOST_LINES = 20
_NO_STEP = "the run ended before any step"
_NUMBERS = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?|(?<=PID )\d+|\d[\d.,]*(?= [a-z])")
"""Times, ages and counts, which differ each time the same thing fails."""


def alerts_sensor(schedule: ScheduleSettings, more: Sequence[Channel]) -> dg.SensorDefinition:
    """Return the sensor that sends an alert for each failed run; `more` are channels of the user's own."""

    @dg.run_failure_sensor(
        name="alerts",
        minimum_interval_seconds=30,
        default_status=sensor_status(schedule),
        description="Sends an alert for each failed run, as [alerts] configures.",
    )
    def alerts(context: dg.RunFailureSensorContext, vetl: VetlResource) -> dg.SkipReason | None:
        settings = vetl.settings().alerts
        return _report(context, [*channels(settings), *more], settings.repeat_hours)

    return alerts


def well_again_sensor(schedule: ScheduleSettings, more: Sequence[Channel]) -> dg.SensorDefinition:
    """Return the sensor that says, on the same channels, that a job succeeds again."""

    @dg.run_status_sensor(
        name="well_again",
        run_status=dg.DagsterRunStatus.SUCCESS,
        minimum_interval_seconds=30,
        default_status=sensor_status(schedule),
        description="Says that a job succeeds again after an alert about it.",
    )
    def well_again(context: dg.RunStatusSensorContext, vetl: VetlResource) -> dg.SkipReason | None:
        run, sent = context.dagster_run, _sent(context.instance)
        if run.job_name not in sent:
            return dg.SkipReason(f"no alert is open about {run.job_name}")
        over = Alert(run.job_name, run.run_id, _lines_of(sent.pop(run.job_name)), is_over=True, is_well=True)
        send([*channels(vetl.settings().alerts), *more], over)
        _keep(context.instance, sent)
        return None

    return well_again


def _report(context: dg.RunFailureSensorContext, used: Sequence[Channel], hours: float) -> dg.SkipReason | None:
    """Send the causes that are new or due again, and those that are over although the run failed."""
    if not used:
        return dg.SkipReason("no channel is configured in [alerts]")
    alert, causes, judged = alert_of(context)
    sent, now = _sent(context.instance), time.time()
    before = sent.get(alert.job, {})
    over = {cause for cause in before.keys() - causes if cause.partition(": ")[0] in judged}
    due = [cause for cause in causes if now - before.get(cause, 0.0) > hours * 3600]
    if due:
        send(used, alert)
    if over:
        send(used, Alert(alert.job, alert.run_id, _lines_of(over), is_over=True))
    kept = {cause: at for cause, at in before.items() if cause not in over}
    sent[alert.job] = kept | (dict.fromkeys(causes, now) if due else {})
    _keep(context.instance, sent)
    return None if due or over else dg.SkipReason(f"the causes were sent within {hours:g} h")


def _sent(instance: dg.DagsterInstance) -> dict[str, dict[str, float]]:
    """Return when each cause was sent, by job."""
    return json.loads(instance.daemon_cursor_storage.get_cursor_values({_STATE}).get(_STATE, "{}"))


def _keep(instance: dg.DagsterInstance, sent: dict[str, dict[str, float]]) -> None:
    instance.daemon_cursor_storage.set_cursor_values({_STATE: json.dumps(sent)})


def _lines_of(causes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(causes))[:_MOST_LINES]


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
