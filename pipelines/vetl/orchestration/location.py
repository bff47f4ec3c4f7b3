"""All definitions of vetl for Dagster: in one call, and as a component."""

from collections.abc import Sequence
from os import PathLike, fspath

import dagster as dg

from vetl import hooks
from vetl.notices import Channel
from vetl.orchestration import schedules
from vetl.orchestration.checks import check_lists, check_published
from vetl.orchestration.dbt import DbtAssets, built_assets
from vetl.orchestration.lists import list_assets, received_tables
from vetl.orchestration.resources import DRAIN, VetlResource


def vetl_definitions(
    config: str | PathLike[str] | None = None, *, channels: Sequence[Channel] = ()
) -> dg.Definitions:
    """Return assets, checks, jobs, schedules and sensors, for a code location or a part of one.

    `config` is the `vetl.toml` to read, `None` for the file that `vetl` itself would read. `channels` receive
    alerts beside those of `[alerts]`. Raise `dagster.Failure` if the settings are invalid, `BuildFailed` if the
    dbt project does not parse.
    """
    vetl = VetlResource(config=fspath(config) if config is not None else None)
    settings = vetl.settings()
    dbt = DbtAssets(settings)
    lists, received, models = list_assets(dbt.raw_tables), received_tables(dbt.raw_tables), built_assets(dbt)
    more = hooks.definitions(settings, vetl)
    added = [check for one in more for check in one.asset_checks or ()]
    published_checks = check_published()  # after the addons, which may add to them
    own_jobs = schedules.jobs(lists, received, models, [published_checks, *added])
    own = dg.Definitions(
        assets=[lists, received, *dbt.others, models],
        asset_checks=[check_lists, published_checks],
        jobs=own_jobs,
        schedules=schedules.schedules(settings.schedule),
        sensors=[
            schedules.practices_sensor,
            schedules.backfill_sensor(next(job for job in own_jobs if job.name == DRAIN)),
            *schedules.inbox_sensors(settings.schedule),
            *schedules.alert_sensors(settings.schedule, channels),
        ],
        resources={"vetl": vetl},
    )
    return dg.Definitions.merge(own, *more)


class VetlSync(dg.Component, dg.Model, dg.Resolvable):
    """The definitions of vetl for the file `config`, a path that begins at the root of the project."""

    config: str = "vetl.toml"

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return all definitions of vetl."""
        return vetl_definitions(context.project_root / self.config)
