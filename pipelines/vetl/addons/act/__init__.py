"""Acting: unbooked requests become staff tasks or messages, each exactly once."""

from datetime import datetime
from typing import TYPE_CHECKING

from vetl.hooks import addon

if TYPE_CHECKING:
    import dagster as dg

    from vetl.hooks import AddonFiles, Commands, Sections, StatusPart
    from vetl.orchestration.resources import VetlResource
    from vetl.settings import Settings


@addon
def settings_sections() -> "Sections":
    """Return the section, and the line of the schedule."""
    from vetl.addons.act.settings import ActSchedule, ActSettings

    return {"act": ActSettings, "schedule": ActSchedule}


@addon
def commands() -> "Commands":
    """Return the command."""
    line = "Turn unbooked requests into staff tasks, exactly once."
    return {"Act": {"act": ("vetl.addons.act.command", line)}}


@addon
def definitions(settings: "Settings", vetl: "VetlResource") -> "dg.Definitions":
    """Return the ledger as an asset with its check, the job and its schedule."""
    from vetl.addons.act import dagster

    return dagster.definitions(settings, vetl)


@addon
def before_build(settings: "Settings") -> None:
    """Copy the ledger into the private file, for the marts."""
    from vetl.addons.act.mirror import mirror_ledger

    mirror_ledger(settings)


@addon
def problems(settings: "Settings", now: datetime) -> "StatusPart":
    """Return a problem if the ledger cannot be read, or an act has been unknown for longer than a day."""
    from vetl.addons.act.ledger import problems
    from vetl.hooks import StatusPart

    return StatusPart(problems=tuple(problems(settings, now)))


@addon
def people(settings: "Settings") -> "AddonFiles":
    """Return the ledger and the last plan, which name clients."""
    from vetl.addons.act.act_files import ActFiles

    return ActFiles(settings)
