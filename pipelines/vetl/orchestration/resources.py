"""What all definitions share: keys, the pool of writers, the settings, and vetl's errors as Dagster's."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg

from vetl.core.errors import Transient, VetlError
from vetl.jobs.logs import configure_logs
from vetl.settings import Settings, load_settings
from vetl.settings.core_sections import ScheduleSettings

EVERYTHING, DRAIN, BUILD, WATCH = "everything", "drain", "build", "watch"
BUILDING = (EVERYTHING, DRAIN, BUILD)
"""The jobs that build and publish; vetl and not a selection of assets decides which models they make."""

ONLY_NEWS = (EVERYTHING, DRAIN)
"""Jobs that build only if data changed, and then test only the published models. Other jobs always build."""

RawTables = Mapping[dg.AssetKey, dg.AssetSpec]

PUBLISHED = dg.AssetKey(["published", "analytics"])
WRITER_POOL = "warehouse_writer"
"""The pool of steps that write: DuckDB takes one writer. With `concurrency: pools: {granularity: op,
default_limit: 1}` in `dagster.yaml`, runs queue for the pool; without it, the second writer waits
`lock_wait_seconds` for the file."""


def raw_key(table: str) -> dg.AssetKey:
    """Return the key of a raw table, the same as dagster-dbt derives from the dbt source `partner`."""
    return dg.AssetKey(["partner", table])


def sensor_status(settings: ScheduleSettings) -> dg.DefaultSensorStatus:
    """Return `STOPPED` unless `vetl.toml` starts the schedules."""
    return dg.DefaultSensorStatus.RUNNING if settings.start else dg.DefaultSensorStatus.STOPPED


class VetlResource(dg.ConfigurableResource[None]):
    """The settings, which each run reads again; secrets come from the environment.

    `config` is the file to read, or `None` for the file that `vetl` itself would read.
    """

    config: str | None = None

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Log to standard error, warnings also to the run. Only the owner may read the files that vetl writes."""
        as_json = False
        with suppress(dg.Failure):  # the step reads wrong settings again, and fails with their error
            as_json = self.settings().schedule.json_logs
        configure_logs(1, as_json=as_json, warn=context.log.info if context.log else print)
        os.umask(0o077)

    def settings(self) -> Settings:
        """Read the settings.

        Raises:
            dagster.Failure: they are invalid; it allows no retry.
        """
        with as_failures():
            return load_settings(Path(self.config) if self.config else None)


@contextmanager
def as_failures(*, may_retry: bool = True) -> Generator[None]:
    """Raise vetl's errors as Dagster's. Only a transient error allows a retry.

    On the last attempt no error does: the run would show "Exceeded max_retries" instead of the error.
    """
    try:
        yield
    except VetlError as error:
        raise dg.Failure(str(error), allow_retries=may_retry and isinstance(error, Transient)) from None
