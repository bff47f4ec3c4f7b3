"""The jobs, and their schedules from the cron expressions in `[schedule]`."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dagster as dg
from dagster import AssetSelection

from vetl.orchestration.checks import check_lists
from vetl.orchestration.keys import PUBLISHED
from vetl.orchestration.read_config import Again, run_config
from vetl.settings.schedule import OFF, ScheduleSettings

EVERYTHING, DRAIN, BUILD, WATCH = "everything", "drain", "build", "watch"
UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


def jobs(
    lists: dg.AssetsDefinition,
    received: dg.AssetsDefinition,
    models: dg.AssetsDefinition,
    check_published: dg.AssetChecksDefinition,
    more: Sequence[dg.AssetsDefinition],
) -> Sequence[Any]:
    """Return the jobs; `more` are the checks of addons. Each job but `watch` builds all marts or none.

    A job builds nothing if no data changed.

    No job plans tests of dbt. The build decides which tests run (decision 43), and Dagster counts a check that
    was planned and did not run as a failure.
    """
    checks = AssetSelection.checks(check_published)
    marts = AssetSelection.assets(models, PUBLISHED).without_checks() | checks
    own = AssetSelection.assets(lists, received, models, PUBLISHED)
    everything = (own | AssetSelection.checks(check_lists)) - AssetSelection.checks(models)
    return [
        dg.define_asset_job(
            EVERYTHING,
            everything,
            description="Sync, drain the inbox, build and test the marts, publish: the same as `vetl run`.",
        ),
        dg.define_asset_job(
            DRAIN,
            AssetSelection.assets(received).without_checks() | marts,
            description="Move received webhooks into raw, then build and publish.",
        ),
        dg.define_asset_job(
            BUILD, marts, description="Build and publish the committed data: the same as `vetl build`."
        ),
        dg.define_asset_job(
            WATCH,
            AssetSelection.checks(check_lists, check_published, *more),
            description="Run only the checks. They need no lock, and find a sync that never ran.",
        ),
    ]


Config = Callable[[], dict[str, Any] | dg.SkipReason]


def schedules(settings: ScheduleSettings) -> list[dg.ScheduleDefinition]:
    """Return a schedule for each line that is not `off`."""
    lines: dict[str, tuple[str, str, Config, str]] = {
        "hourly": (settings.hourly, EVERYTHING, partial(run_config, Again.no), "Read new rows of every list."),
        "nightly": (
            *(settings.nightly, EVERYTHING, partial(run_config, Again.recent)),
            "Read the last 35 days again, and repair.",
        ),
        "weekly": (
            *(settings.weekly, EVERYTHING, partial(run_config, Again.full)),
            "Read all history again, and repair.",
        ),
        "watch": (settings.watch, WATCH, dict, "Run the checks, even if nothing else runs."),
    }
    return [
        tick
        for name, (cron, job, config, description) in lines.items()
        for tick in schedule(settings, name, cron, job, config, description)
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
        default_status=default_status(settings),
    )
    def tick(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        busy = dg.RunsFilter(job_name=job, tags={"dagster/schedule_name": name}, statuses=UNFINISHED)
        if earlier := context.instance.get_runs(busy, limit=1):
            return dg.SkipReason(f"run {earlier[0].run_id} of the previous tick is not done yet")
        found = config()
        return found if isinstance(found, dg.SkipReason) else dg.RunRequest(run_config=found)

    return [tick]


def default_status(settings: ScheduleSettings) -> dg.DefaultScheduleStatus:
    """Return `STOPPED` unless `vetl.toml` starts the schedules, because they read from the platform."""
    return dg.DefaultScheduleStatus.RUNNING if settings.start else dg.DefaultScheduleStatus.STOPPED
