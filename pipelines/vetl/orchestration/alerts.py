"""Sensors that send the alerts about failed runs.

An alert quotes vetl's own errors, which never hold a secret or personal data. Of other exceptions it names only
the class. An alert is known by its causes: the job and the step, and for checks the check and the practice.
A cause is sent once, again after `repeat_hours`, and once more when it is over.
"""

import json
import re
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import dagster as dg
from dagster_shared.error import SerializableErrorInfo

from vetl.notices.alerts import Alert, Channel, channels, send
from vetl.orchestration.checks import CAUSES
from vetl.orchestration.resources import VetlResource, sensor_status
from vetl.settings.core_sections import AlertSettings, ScheduleSettings

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
        return _report(context, vetl.settings().alerts, more, *alert_of(context))

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
        alert = Alert(context.dagster_run.job_name, context.dagster_run.run_id, ())
        return _report(context, vetl.settings().alerts, more, alert, frozenset(), None)

    return well_again


def _report(
    context: dg.RunStatusSensorContext,
    settings: AlertSettings,
    more: Sequence[Channel],
    alert: Alert,
    causes: AbstractSet[str],
    judged: AbstractSet[str] | None,
) -> dg.SkipReason | None:
    """Send the causes that are new or due again, and those that are over: of the steps `judged`, or of all."""
    used = [*channels(settings), *more]
    if not used:
        return dg.SkipReason("no channel is configured in [alerts]")
    storage, now = context.instance.daemon_cursor_storage, time.time()
    sent: dict[str, dict[str, float]] = json.loads(storage.get_cursor_values({_STATE}).get(_STATE, "{}"))
    before = sent.get(alert.job, {})
    over = {one for one in before.keys() - causes if judged is None or one.partition(": ")[0] in judged}
    due = [cause for cause in causes if now - before.get(cause, 0.0) > settings.repeat_hours * 3600]
    if due:
        send(used, alert)
    if over:
        ended = tuple(sorted(over))[:_MOST_LINES]
        send(used, replace(alert, failures=ended, is_over=True, is_well=not causes))
    kept = {cause: at for cause, at in before.items() if cause not in over}
    sent[alert.job] = kept | (dict.fromkeys(causes, now) if due else {})
    storage.set_cursor_values({_STATE: json.dumps(sent)})
    return None if due or over else dg.SkipReason(f"no cause of {alert.job} is new, due again or over")


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
