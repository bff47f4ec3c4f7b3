"""Letters: each reader gets the letter about the last closed week, once. Charts come with the extra `report`."""

from vetl.hooks import Commands, Hooks, Sections, addon, found_in

definitions = found_in("vetl.addons.letters.dagster:definitions", Hooks.definitions)
people = found_in("vetl.addons.letters.job:files", Hooks.people)


@addon
def settings_sections() -> Sections:
    """Return the section, and the line of the schedule."""
    from vetl.addons.letters.settings import LetterSchedule, ReportSettings

    return {"report": ReportSettings, "schedule": LetterSchedule}


@addon
def commands() -> Commands:
    """Return the command."""
    line = "Send each reader the letter about the last closed week, once."
    return {"Act": {"report": ("vetl.addons.letters.command", line)}}
