"""What assets are given to work with."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from pipelines.core.errors import Transient, VetlError
from pipelines.jobs.logs import configure_logs
from pipelines.settings import Settings, load_settings

WRITER_POOL = "warehouse_writer"
"""DuckDB takes one writer. With `concurrency: pools: {granularity: op, default_limit: 1}` in `dagster.yaml`,
runs queue for it; without, the second writer waits `lock_wait_seconds` for the file."""


class VetlResource(dg.ConfigurableResource[None]):
    """Where the settings are; they are read anew by each run, secrets from the environment.

    `config` is the file to read, or nothing for what `vetl` itself would read.
    """

    config: str | None = None

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:  # noqa: ARG002 - Dagster's signature
        """What vetl logs goes to standard error, where Dagster collects it; its files are its owner's alone."""
        configure_logs(1)
        os.umask(0o077)

    def settings(self) -> Settings:
        """The settings.

        Raises:
            dagster.Failure: they are wrong; a retry would find them as they are.
        """
        with as_failures():
            return load_settings(Path(self.config) if self.config else None)


@contextmanager
def as_failures() -> Generator[None]:
    """Vetl's errors as Dagster's: only what is transient is worth a retry."""
    try:
        yield
    except VetlError as error:
        raise dg.Failure(str(error), allow_retries=isinstance(error, Transient)) from None
