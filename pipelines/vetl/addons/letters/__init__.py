"""Letters: each reader gets the letter about the last closed week, once. Charts come with the extra `report`."""

from vetl.hooks import Hooks, command_in, found_in, sections_in

settings_sections = sections_in("vetl.addons.letters.settings", report="ReportSettings", schedule="LetterSchedule")
commands = command_in(
    "vetl.addons.letters.command", "Act", "report", "Send each reader the letter about the last closed week, once."
)
definitions = found_in("vetl.addons.letters.dagster:definitions", Hooks.definitions)
people = found_in("vetl.addons.letters.job:files", Hooks.people)
