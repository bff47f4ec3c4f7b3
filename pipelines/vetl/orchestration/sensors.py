"""The sensor that starts a drain when webhooks wait."""

from datetime import UTC, datetime

import dagster as dg

from vetl.core.errors import InboxError
from vetl.orchestration.resources import VetlResource
from vetl.orchestration.schedules import DRAIN
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
