"""The jobs, their schedules from the cron lines of `[schedule]`, and the sensors beside them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg
from dagster import AssetSelection

from vetl.core.errors import InboxError
from vetl.orchestration.checks import check_lists
from vetl.orchestration.lists import NAME, PRACTICES, Again, config_of, run_config
from vetl.orchestration.resources import BUILD, DRAIN, EVERYTHING, WATCH, VetlResource, sensor_status
from vetl.receiving.inbox import read_backlog
from vetl.settings.core_sections import OFF, ScheduleSettings

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
