"""Sensors: one starts a drain when webhooks wait, one builds after the runs of all shards."""

from datetime import UTC, datetime

import dagster as dg

from vetl.core.errors import InboxError
from vetl.orchestration.read_config import READ_AGAIN, reads_again
from vetl.orchestration.resources import VetlResource
from vetl.orchestration.schedules import AFTER_LISTS, DRAIN, LISTS, UNFINISHED
from vetl.receiving.inbox import read_backlog
from vetl.settings.schedule import ScheduleSettings


def inbox_sensors(settings: ScheduleSettings) -> list[dg.SensorDefinition]:
    """Return the sensor of the inbox; none if `inbox_seconds` is 0."""

    @dg.sensor(
        name="inbox",
        job_name=DRAIN,
        minimum_interval_seconds=settings.inbox_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING if settings.start else dg.DefaultSensorStatus.STOPPED,
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


def after_lists_sensors(settings: ScheduleSettings) -> list[dg.SensorDefinition]:
    """Return the sensor that starts `after_lists` once all shards are read; none if one run reads all lists."""

    @dg.sensor(
        name="after_lists",
        job_name=AFTER_LISTS,
        minimum_interval_seconds=15,
        default_status=dg.DefaultSensorStatus.RUNNING if settings.start else dg.DefaultSensorStatus.STOPPED,
        description="Starts after_lists when the last run of lists has ended, even if it failed.",
    )
    def after_lists(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        for job in (LISTS, AFTER_LISTS):
            if busy := context.instance.get_runs(dg.RunsFilter(job_name=job, statuses=UNFINISHED), limit=1):
                return dg.SkipReason(f"run {busy[0].run_id} of {job} is not done yet")
        before = datetime.fromisoformat(context.cursor) if context.cursor else None
        ended = context.instance.get_run_records(dg.RunsFilter(job_name=LISTS, updated_after=before))
        if not ended:
            return dg.SkipReason("no list was read since the last run")
        tags = {READ_AGAIN: "yes"} if any(reads_again(record.dagster_run) for record in ended) else {}
        last = max(record.update_timestamp for record in ended)
        return dg.SensorResult([dg.RunRequest(tags=tags)], cursor=last.isoformat())

    return [after_lists] if settings.by_shard else []
