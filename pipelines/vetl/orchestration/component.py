"""vetl as a component of Dagster: ten lines of YAML add it to a project of one's own."""

import dagster as dg

from vetl.orchestration.location import vetl_definitions


class VetlSync(dg.Component, dg.Model, dg.Resolvable):
    """The lists, marts, checks, jobs and schedules of vetl, for one `vetl.toml`.

    `config` is that file. A relative path begins at the root of the project.
    """

    config: str = "vetl.toml"

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return all definitions of vetl."""
        return vetl_definitions(context.project_root / self.config)
