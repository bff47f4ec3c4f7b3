"""The jobs, their schedules from the cron lines of `[schedule]`, and the sensors beside them, those of alerts too.

An alert quotes vetl's own errors, which never hold a secret or personal data. Of other exceptions it names only
the class. An alert is known by its causes: the job and the step, and for checks the check and the practice.
"""

import json
import re
from collections.abc import Callable, Sequence, Set as AbstractSet
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from dagster import AssetSelection
from dagster_shared.error import SerializableErrorInfo

from vetl.core.errors import InboxError
from vetl.notices import Alert, Channel, channels, send_news
from vetl.orchestration.checks import CAUSES, check_lists
from vetl.orchestration.lists import NAME, PRACTICES, Again, config_of, run_config
from vetl.orchestration.resources import BUILD, DRAIN, EVERYTHING, WATCH, VetlResource, sensor_status
from vetl.receiving.inbox import read_backlog
from vetl.settings.core_sections import OFF, AlertSettings, ScheduleSettings

UNFINISHED = [status for status in dg.DagsterRunStatus if status.value not in {"SUCCESS", "FAILURE", "CANCELED"}]


def jobs(
    lists: dg.AssetsDefinition, received: dg.AssetsDefinition, models: dg.AssetsDefinition, watched: Sequence[Any]
) -> list[Any]:
    """Return the jobs; `watched` are more checks. A job builds nothing if no data changed, but for `build`.

    No job plans tests of dbt. The build decides which tests run (decision 43), and Dagster counts a check that
    was planned and did not run as a failure.
    """
    # Every planned asset is an event. Of views, only those over raw tables are planned: the build waits for these.
    raw, made = AssetSelection.assets(lists, received), AssetSelection.assets(models)
    marts = ((made - AssetSelection.kind("view")) | (made & raw.downstream(depth=1))).without_checks()
    read, drained = raw.without_checks(), AssetSelection.assets(received).without_checks()
    checks = AssetSelection.checks(check_lists)

    def job(name: str, selection: AssetSelection, description: str) -> Any:  # noqa: ANN401 - not resolved yet
        # In several processes the steps would only wait for each other's lock on the warehouse.
        return dg.define_asset_job(name, selection, description=description, executor_def=dg.in_process_executor)

    return [
        job(EVERYTHING, read | marts | checks, "Sync, drain the inbox, build, test and publish, like `vetl run`."),
        job(DRAIN, drained | marts, "Move received webhooks into raw, then build and publish."),
        job(BUILD, marts, "Build and publish the committed data: the same as `vetl build`."),
        job(
            WATCH,
            checks | AssetSelection.checks(*watched),
            "Run the checks, which find a sync that never ran.",
        ),
    ]


Config = Callable[[], dict[str, Any] | dg.SkipReason]


def schedules(settings: ScheduleSettings) -> list[dg.ScheduleDefinition]:
    """Return a schedule for each line that is not `off`."""

    def reading(name: str, cron: str, again: Again, description: str) -> list[dg.ScheduleDefinition]:
        return schedule(settings, name, cron, EVERYTHING, lambda: run_config(again), description)

    return [
        *reading("hourly", settings.hourly, Again.no, "Read new rows of every list."),
        *reading("nightly", settings.nightly, Again.recent, "Read the last 35 days again, and repair."),
        *reading("weekly", settings.weekly, Again.full, "Read all history again, and repair."),
        *schedule(settings, "watch", settings.watch, WATCH, dict, "Run the checks, even if nothing else runs."),
    ]


def schedule(
    settings: ScheduleSettings, name: str, cron: str, job: str, config: Config, description: str
) -> list[dg.ScheduleDefinition]:
    """Return the schedule of a cron line, or none if the line is off."""
    if cron == OFF:
        return []

    @dg.schedule(
        name=name,
        job_name=job,
        cron_schedule=cron,
        execution_timezone=settings.time_zone,
        description=description,
        default_status=dg.DefaultScheduleStatus(sensor_status(settings).value),
    )
    def tick(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        tags = {"dagster/schedule_name": name}
        busy = dg.RunsFilter(job_name=job, tags=tags, statuses=UNFINISHED)
        if earlier := context.instance.get_runs(busy, limit=1):
            return dg.SkipReason(f"run {earlier[0].run_id} of the previous tick is not done yet")
        found = config()
        return found if isinstance(found, dg.SkipReason) else dg.RunRequest(run_config=found)

    return [tick]


def inbox_sensors(settings: ScheduleSettings) -> list[dg.SensorDefinition]:
    """Return the sensor of the inbox; none if `inbox_seconds` is 0."""

    @dg.sensor(
        name="inbox",
        job_name=DRAIN,
        minimum_interval_seconds=settings.inbox_seconds,
        default_status=sensor_status(settings),
        description="Drains the inbox when webhooks wait in it. A failed drain is tried again each hour.",
    )
    def inbox(vetl: VetlResource) -> dg.RunRequest | dg.SkipReason:
        """Read only the inbox, so that a locked warehouse delays nothing."""
        try:
            backlog = read_backlog(vetl.settings().webhooks.inbox)
        except InboxError as error:
            return dg.SkipReason(str(error))
        if not backlog.waiting:
            return dg.SkipReason("the inbox is empty")
        return dg.RunRequest(run_key=f"{backlog.last}-{datetime.now(UTC):%Y%m%dT%H}")

    return [inbox] if settings.inbox_seconds else []


def backfill_sensor(drain: Any) -> dg.SensorDefinition:  # noqa: ANN401 - a job that Dagster has not resolved yet
    """Return the sensor that builds what hangs on a list that was read alone, if rows of it have changed."""

    @dg.run_status_sensor(
        name="backfills",
        run_status=dg.DagsterRunStatus.SUCCESS,
        request_job=drain,
        minimum_interval_seconds=30,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Builds and publishes after lists were read without the rest, if rows have changed.",
    )
    def backfills(context: dg.RunStatusSensorContext) -> dg.RunRequest | dg.SkipReason:
        run = context.dagster_run
        areas = {key.path[0] for key in run.asset_selection or ()}
        if areas == {"partner"} or config_of(run).get("lists"):
            return dg.RunRequest(run_key=run.run_id)
        return dg.SkipReason(f"{run.job_name} builds by itself, or has read no list")

    return backfills


@dg.sensor(
    name="practices",
    minimum_interval_seconds=60,
    default_status=dg.DefaultSensorStatus.RUNNING,
    description="Keeps the partitions equal to vetl.toml. The rows of a removed practice stay.",
)
def practices_sensor(context: dg.SensorEvaluationContext, vetl: VetlResource) -> dg.SensorResult | dg.SkipReason:
    """Compare the partitions with the settings; no request to the platform and no lock is needed."""
    partitions = context.instance.get_dynamic_partitions(NAME)
    configured = [practice.id for practice in vetl.settings().practices]
    if {*partitions} == {*configured}:
        return dg.SkipReason(f"{len(partitions)} practices, the same as in vetl.toml")
    added = PRACTICES.build_add_request([name for name in configured if name not in partitions])
    retired = PRACTICES.build_delete_request([name for name in partitions if name not in configured])
    return dg.SensorResult(dynamic_partitions_requests=[added, retired])


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
