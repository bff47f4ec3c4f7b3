"""Thresholds: who hears if a metric of a practice is outside of one."""

from vetl.hooks import Commands, Hooks, Sections, addon, found_in

definitions = found_in("vetl.addons.watch.dagster:definitions", Hooks.definitions)
after_publication = found_in("vetl.addons.watch.job:lines", Hooks.after_publication)
problems = found_in("vetl.addons.watch.job:status_part", Hooks.problems)
people = found_in("vetl.addons.watch.job:files", Hooks.people)


@addon
def settings_sections() -> Sections:
    """Return the section."""
    from vetl.addons.watch.settings import WatchSettings

    return {"watch": WatchSettings}


@addon
def commands() -> Commands:
    """Return the command."""
    line = "Show the thresholds of [watch] and who is outside of them."
    return {"Check": {"watch": ("vetl.addons.watch.command", line)}}
