"""The marts in a Postgres database, for BI: the driver comes with the extra `postgres` (docs/postgres.md)."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vetl.hooks import addon

if TYPE_CHECKING:
    import dagster as dg

    from vetl.hooks import Sections
    from vetl.jobs.status_report import StatusPart
    from vetl.settings import Settings


@addon
def settings_sections() -> "Sections":
    """Return the section."""
    from vetl.addons.postgres.settings import PublishSettings

    return {"publish": PublishSettings}


@addon
def definitions(settings: "Settings") -> "dg.Definitions":
    """Return the asset of the database, if it is set."""
    from vetl.addons.postgres import dagster

    return dagster.definitions(settings)


@addon
def after_publication(settings: "Settings") -> Iterable[str]:
    """Copy the new published file, if a database is set; return the line about it."""
    from vetl.addons.postgres.job import copy_if_set

    return copy_if_set(settings)


@addon
def problems(settings: "Settings", practices: Sequence[str] | None) -> "StatusPart":
    """Return when the database was last copied to, and why the last copy failed."""
    del practices
    from vetl.addons.postgres.job import status_part

    return status_part(settings)
