"""The marts, and raw if asked for, as Delta tables, where several folders meet; and the marts of all on Spark.

`deltalake` comes with the extra `lake` (docs/lake.md), pyspark and dbt-spark with `spark` (docs/spark.md).
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from vetl.hooks import addon

if TYPE_CHECKING:
    import dagster as dg

    from vetl.hooks import AddonFiles, Commands, Sections, StatusPart
    from vetl.settings import Settings


@addon
def settings_sections() -> "Sections":
    """Return the sections."""
    from vetl.addons.lake.settings import LakeSettings, SparkSettings

    return {"lake": LakeSettings, "spark": SparkSettings}


@addon
def commands() -> "Commands":
    """Return the command."""
    line = "Write the published tables as Delta, in a folder or a bucket."
    return {"Tools": {"lake": ("vetl.addons.lake.command", line)}}


@addon
def engines() -> Mapping[str, str]:
    """Return Spark, which builds the marts of the whole lake."""
    return {"spark": "vetl.addons.lake.command"}


@addon
def definitions(settings: "Settings") -> "dg.Definitions":
    """Return the asset of the lake, if its place is set."""
    from vetl.addons.lake import dagster

    return dagster.definitions(settings)


@addon
def after_publication(settings: "Settings") -> Iterable[str]:
    """Update the lake, if its place is set; return the line about it."""
    from vetl.addons.lake.job import export_if_set

    return export_if_set(settings)


@addon
def problems(settings: "Settings") -> "StatusPart":
    """Return when the lake was last updated, and why the last update failed."""
    from vetl.addons.lake.job import status_part

    return status_part(settings)


@addon
def people(settings: "Settings") -> "AddonFiles":
    """Return the lake and the folder of Spark's builds, in which people may stand."""
    from vetl.addons.lake.lake_people import LakeFiles

    return LakeFiles(settings)
