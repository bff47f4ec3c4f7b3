"""Acting: unbooked requests become staff tasks or messages, each exactly once."""

from vetl.hooks import Commands, Hooks, Sections, addon, found_in

definitions = found_in("vetl.addons.act.dagster:definitions", Hooks.definitions)
before_build = found_in("vetl.addons.act.act_files:mirror_ledger", Hooks.before_build)
problems = found_in("vetl.addons.act.ledger:status_part", Hooks.problems)
people = found_in("vetl.addons.act.act_files:ActFiles", Hooks.people)


@addon
def settings_sections() -> Sections:
    """Return the section, and the line of the schedule."""
    from vetl.addons.act.settings import ActSchedule, ActSettings

    return {"act": ActSettings, "schedule": ActSchedule}


@addon
def commands() -> Commands:
    """Return the command."""
    line = "Turn unbooked requests into staff tasks, exactly once."
    return {"Act": {"act": ("vetl.addons.act.command", line)}}
