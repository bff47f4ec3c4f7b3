"""When vetl runs by itself, as `[schedule]` says. There is no second mechanism beside these lines of cron."""

from collections.abc import Sequence
from typing import Any

import dagster as dg
from dagster import AssetSelection

from pipelines.orchestration.checks import check_lists
from pipelines.orchestration.published import PUBLISHED
from pipelines.orchestration.published_checks import check_published
from pipelines.orchestration.read_config import Again, run_config
from pipelines.settings.schedule import OFF, ScheduleSettings

EVERYTHING, DRAIN, BUILD, WATCH = "everything", "drain", "build", "watch"
_UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
]


def jobs(received: dg.AssetsDefinition, models: dg.AssetsDefinition) -> Sequence[Any]:
    """Four jobs; each builds all marts or none, and what has not changed is not built again."""
    marts = AssetSelection.assets(models, PUBLISHED)
    return [
        dg.define_asset_job(
            EVERYTHING,
            AssetSelection.all(),
            description="Sync, drain the inbox, build and test the marts, publish: what `vetl run` does.",
        ),
        dg.define_asset_job(
            DRAIN,
            AssetSelection.assets(received) | marts,
            description="Move what webhooks brought into raw, then build and publish.",
        ),
        dg.define_asset_job(
            BUILD, marts, description="Build and publish what is committed: what `vetl build` does."
        ),
        dg.define_asset_job(
            WATCH,
            AssetSelection.checks(check_lists, check_published),
            description="The checks alone. They read files that nobody locks, and notice a sync that never ran.",
        ),
    ]


def schedules(settings: ScheduleSettings) -> list[dg.ScheduleDefinition]:
    """A schedule for each line that is not `off`."""
    lines = {
        "hourly": (settings.hourly, EVERYTHING, Again.no, "What is new, of every list."),
        "nightly": (settings.nightly, EVERYTHING, Again.recent, "The last 35 days again, compared and repaired."),
        "weekly": (settings.weekly, EVERYTHING, Again.full, "All of history again, compared and repaired."),
        "watch": (settings.watch, WATCH, None, "The checks, also where nothing runs."),
    }
    return [
        _schedule(name, cron, job, again, description, settings)
        for name, (cron, job, again, description) in lines.items()
        if cron != OFF
    ]


def _schedule(
    name: str, cron: str, job: str, again: Again | None, description: str, settings: ScheduleSettings
) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=name,
        job_name=job,
        cron_schedule=cron,
        execution_timezone=settings.time_zone,
        description=description,
        default_status=default_status(settings),
    )
    def tick(context: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        mine = dg.RunsFilter(job_name=job, tags={"dagster/schedule_name": name}, statuses=_UNFINISHED)
        if earlier := context.instance.get_runs(mine, limit=1):
            return dg.SkipReason(f"run {earlier[0].run_id} of this schedule is not done yet")
        return dg.RunRequest(run_config=run_config(again) if again else {})

    return tick


def default_status(settings: ScheduleSettings) -> dg.DefaultScheduleStatus:
    """Switched off until someone switches it on, here or in `vetl.toml`: it reads from the platform."""
    return dg.DefaultScheduleStatus.RUNNING if settings.start else dg.DefaultScheduleStatus.STOPPED
