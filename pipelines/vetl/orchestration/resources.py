"""The resource with the settings, and vetl's errors as Dagster's."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg

from vetl.core.errors import Transient, VetlError
from vetl.jobs.logs import configure_logs
from vetl.settings import Settings, load_settings


class VetlResource(dg.ConfigurableResource[None]):
    """The settings, which each run reads again; secrets come from the environment.

    `config` is the file to read, or `None` for the file that `vetl` itself would read.
    """

    config: str | None = None

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:  # noqa: ARG002 - Dagster's signature
        """Log to standard error, which Dagster collects. Only the owner may read the files that vetl writes."""
        configure_logs(1)
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
