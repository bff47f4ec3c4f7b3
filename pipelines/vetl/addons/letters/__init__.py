"""Letters: each reader gets the letter about the last closed week, once. Charts come with the extra `report`."""

from typing import TYPE_CHECKING

from vetl.hooks import addon

if TYPE_CHECKING:
    import dagster as dg

    from vetl.hooks import AddonFiles, Commands, Sections
    from vetl.settings import Settings


@addon
def settings_sections() -> "Sections":
    """Return the section, and the line of the schedule."""
    from vetl.addons.letters.settings import LetterSchedule, ReportSettings

    return {"report": ReportSettings, "schedule": LetterSchedule}


@addon
def commands() -> "Commands":
    """Return the command."""
    line = "Send each reader the letter about the last closed week, once."
    return {"Act": {"report": ("vetl.addons.letters.command", line)}}


@addon
def definitions(settings: "Settings") -> "dg.Definitions":
    """Return the job and its schedule."""
    from vetl.addons.letters import dagster

    return dagster.definitions(settings)


@addon
def people(settings: "Settings") -> "AddonFiles":
    """Return the ledger of letters."""
    from vetl.addons.letters.settings import ReportSettings
    from vetl.hooks import AddonFiles

    return AddonFiles({"report-ledger": ReportSettings.of(settings).ledger})
