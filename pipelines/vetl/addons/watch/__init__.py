"""Thresholds: who hears if a metric of a practice is outside of one."""

from vetl.hooks import Hooks, command_in, found_in, sections_in

settings_sections = sections_in("vetl.addons.watch.settings", watch="WatchSettings")
commands = command_in(
    "vetl.addons.watch.command", "Check", "watch", "Show the thresholds of [watch] and who is outside of them."
)
definitions = found_in("vetl.addons.watch.dagster:definitions", Hooks.definitions)
after_publication = found_in("vetl.addons.watch.job:lines", Hooks.after_publication)
problems = found_in("vetl.addons.watch.job:status_part", Hooks.problems)
people = found_in("vetl.addons.watch.job:files", Hooks.people)
