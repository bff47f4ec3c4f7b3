"""What starts a run because something happened."""

from datetime import UTC, datetime

import dagster as dg

from pipelines.errors import InboxError
from pipelines.orchestration.received import drain
from pipelines.orchestration.resources import VetlResource
from pipelines.receiving.inbox import look


@dg.sensor(
    name="inbox",
    job=drain,
    minimum_interval_seconds=60,
    description="Drains the inbox when webhooks wait in it; a drain that failed is tried again each hour.",
)
def inbox_sensor(vetl: VetlResource) -> dg.RunRequest | dg.SkipReason:
    """Ask the inbox alone: the warehouse may be busy for as long as it likes."""
    try:
        backlog = look(vetl.settings().webhooks.inbox)
    except InboxError as error:
        return dg.SkipReason(str(error))
    if not backlog.waiting:
        return dg.SkipReason("nothing waits in the inbox")
    return dg.RunRequest(run_key=f"{backlog.last}-{datetime.now(UTC):%Y%m%dT%H}")
