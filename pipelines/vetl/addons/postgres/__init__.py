"""The marts in a Postgres database, for BI: the driver comes with the extra `postgres` (docs/postgres.md)."""

from vetl.hooks import Hooks, found_in, sections_in

settings_sections = sections_in("vetl.addons.postgres.settings", publish="PublishSettings")
definitions = found_in("vetl.addons.postgres.dagster:definitions", Hooks.definitions)
after_publication = found_in("vetl.addons.postgres.job:copy_if_set", Hooks.after_publication)
problems = found_in("vetl.addons.postgres.job:status_part", Hooks.problems)
