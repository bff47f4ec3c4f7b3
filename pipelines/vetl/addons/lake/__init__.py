"""The marts, and raw if asked for, as Delta tables, where several folders meet; and the marts of all on Spark.

`deltalake` comes with the extra `lake` (docs/lake.md), pyspark and dbt-spark with `spark` (docs/spark.md).
"""

from collections.abc import Mapping

from vetl.hooks import Hooks, addon, command_in, found_in, sections_in

settings_sections = sections_in("vetl.addons.lake.settings", lake="LakeSettings", spark="SparkSettings")
commands = command_in(
    "vetl.addons.lake.command", "Tools", "lake", "Write the published tables as Delta, in a folder or a bucket."
)
definitions = found_in("vetl.addons.lake.dagster:definitions", Hooks.definitions)
after_publication = found_in("vetl.addons.lake.job:export_if_set", Hooks.after_publication)
problems = found_in("vetl.addons.lake.job:status_part", Hooks.problems)
people = found_in("vetl.addons.lake.job:LakeFiles", Hooks.people)


@addon
def engines() -> Mapping[str, str]:
    """Return Spark, which builds the marts of the whole lake."""
    return {"spark": "vetl.addons.lake.command"}
