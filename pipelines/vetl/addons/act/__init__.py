"""Acting: unbooked requests become staff tasks or messages, each exactly once."""

from vetl.hooks import Hooks, command_in, found_in, sections_in

settings_sections = sections_in("vetl.addons.act.settings", act="ActSettings", schedule="ActSchedule")
commands = command_in(
    "vetl.addons.act.command", "Act", "act", "Turn unbooked requests into staff tasks, exactly once."
)
definitions = found_in("vetl.addons.act.dagster:definitions", Hooks.definitions)
before_build = found_in("vetl.addons.act.act_files:mirror_ledger", Hooks.before_build)
problems = found_in("vetl.addons.act.ledger:status_part", Hooks.problems)
people = found_in("vetl.addons.act.act_files:ActFiles", Hooks.people)
