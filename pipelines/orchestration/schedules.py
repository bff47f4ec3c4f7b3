"""When vetl runs by itself."""

import dagster as dg

everything = dg.define_asset_job(
    "everything",
    selection=dg.AssetSelection.all(),
    description="Sync every list, build and test the marts, publish: what `vetl run` does.",
)

hourly = dg.ScheduleDefinition(
    name="hourly",
    job=everything,
    cron_schedule="0 * * * *",
    description="Switched off until someone switches it on: it reads from the platform.",
)
