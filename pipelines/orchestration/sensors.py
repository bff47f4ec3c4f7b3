"""What starts a run because something happened."""

from datetime import UTC, datetime

import dagster as dg

from pipelines.core.errors import InboxError
from pipelines.orchestration.resources import VetlResource
from pipelines.orchestration.schedules import DRAIN
from pipelines.receiving.inbox import look
from pipelines.settings.schedule import ScheduleSettings


def inbox_sensors(settings: ScheduleSettings) -> list[dg.SensorDefinition]:
    """The sensor of the inbox; none where `inbox_seconds` is 0."""

    @dg.sensor(
        name="inbox",
        job_name=DRAIN,
        minimum_interval_seconds=settings.inbox_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING if settings.start else dg.DefaultSensorStatus.STOPPED,
        description="Drains the inbox when webhooks wait in it; a drain that failed is tried again each hour.",
    )
    def inbox(vetl: VetlResource) -> dg.RunRequest | dg.SkipReason:
        """Ask the inbox alone: the warehouse may be busy for as long as it likes."""
        try:
            backlog = look(vetl.settings().webhooks.inbox)
        except InboxError as error:
            return dg.SkipReason(str(error))
        if not backlog.waiting:
            return dg.SkipReason("nothing waits in the inbox")
        return dg.RunRequest(run_key=f"{backlog.last}-{datetime.now(UTC):%Y%m%dT%H}")

    return [inbox] if settings.inbox_seconds else []
