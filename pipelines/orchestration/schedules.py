"""When vetl runs by itself, as `[schedule]` says. There is no second mechanism beside these lines of cron."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dagster as dg
from dagster import AssetSelection

from pipelines.loading.layout import Layout
from pipelines.orchestration.checks import check_lists
from pipelines.orchestration.published import PUBLISHED
from pipelines.orchestration.published_checks import check_published
from pipelines.orchestration.read_config import Again, run_config
from pipelines.settings.schedule import OFF, ScheduleSettings

EVERYTHING, DRAIN, BUILD, WATCH = "everything", "drain", "build", "watch"
LISTS, AFTER_LISTS = "lists", "after_lists"
UNFINISHED = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]

_SHARD = "vetl/shard"


def jobs(lists: dg.AssetsDefinition, received: dg.AssetsDefinition, models: dg.AssetsDefinition) -> Sequence[Any]:
    """Six jobs; each builds all marts or none, and what has not changed is not built again.

    None of them plans a test of dbt's: which of them are due is known when the build begins (decision 0702), and
    Dagster would take each that was planned and not run for a failure.
    """
    read = AssetSelection.assets(lists).without_checks()
    checks = AssetSelection.checks(check_published)
    marts = AssetSelection.assets(models, PUBLISHED).without_checks() | checks
    everything = AssetSelection.all() - AssetSelection.checks(models)
    return [
        dg.define_asset_job(
            EVERYTHING,
            everything,
            description="Sync, drain the inbox, build and test the marts, publish: what `vetl run` does.",
        ),
        dg.define_asset_job(
            LISTS, read, description="The lists alone, of some practices: one run for each shard (docs/scale.md)."
        ),
        dg.define_asset_job(
            AFTER_LISTS,
            everything - read,
            description="What `everything` does after the lists, once the last run of `lists` has ended.",
        ),
        dg.define_asset_job(
            DRAIN,
            AssetSelection.assets(received).without_checks() | marts,
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


def schedules(settings: ScheduleSettings, shards: Callable[[], Layout] = dict) -> list[dg.ScheduleDefinition]:
    """A schedule for each line that is not `off`. `shards` tells whose lists are read by a run of their own."""
    read = LISTS if settings.by_shard else EVERYTHING
    lines = {
        "hourly": (settings.hourly, read, Again.no, "What is new, of every list."),
        "nightly": (settings.nightly, read, Again.recent, "The last 35 days again, compared and repaired."),
        "weekly": (settings.weekly, read, Again.full, "All of history again, compared and repaired."),
        "watch": (settings.watch, WATCH, None, "The checks, also where nothing runs."),
    }
    return [
        _schedule(name, cron, job, again, description, settings, shards)
        for name, (cron, job, again, description) in lines.items()
        if cron != OFF
    ]


def _schedule(
    name: str,
    cron: str,
    job: str,
    again: Again | None,
    description: str,
    settings: ScheduleSettings,
    shards: Callable[[], Layout],
) -> dg.ScheduleDefinition:
    @dg.schedule(
        name=name,
        job_name=job,
        cron_schedule=cron,
        execution_timezone=settings.time_zone,
        description=description,
        default_status=default_status(settings),
    )
    def tick(context: dg.ScheduleEvaluationContext) -> Iterator[dg.RunRequest | dg.SkipReason]:
        busy = [dg.RunsFilter(job_name=job, tags={"dagster/schedule_name": name}, statuses=UNFINISHED)]
        if job == LISTS:  # or marts would never follow where reading takes longer than until the next tick
            busy.append(dg.RunsFilter(job_name=AFTER_LISTS, statuses=UNFINISHED))
        for runs in busy:
            if earlier := context.instance.get_runs(runs, limit=1):
                yield dg.SkipReason(f"run {earlier[0].run_id} of the tick before is not done yet")
                return
        for shard, practices in ((shards() if job == LISTS else {}) or {"": ()}).items():
            config = run_config(again, practices) if again else {}
            key = f"{context.scheduled_execution_time.isoformat()} {shard}" if shard else None
            yield dg.RunRequest(key, run_config=config, tags={_SHARD: shard} if shard else {})

    return tick


def default_status(settings: ScheduleSettings) -> dg.DefaultScheduleStatus:
    """Switched off until someone switches it on, here or in `vetl.toml`: it reads from the platform."""
    return dg.DefaultScheduleStatus.RUNNING if settings.start else dg.DefaultScheduleStatus.STOPPED
