"""Thresholds: who hears if a metric of a practice is outside of one."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vetl.hooks import addon

if TYPE_CHECKING:
    import dagster as dg

    from vetl.hooks import AddonFiles, Commands, Sections, StatusPart
    from vetl.settings import Settings


@addon
def settings_sections() -> "Sections":
    """Return the section."""
    from vetl.addons.watch.settings import WatchSettings

    return {"watch": WatchSettings}


@addon
def commands() -> "Commands":
    """Return the command."""
    line = "Show the thresholds of [watch] and who is outside of them."
    return {"Check": {"watch": ("vetl.addons.watch.command", line)}}


@addon
def definitions() -> "dg.Definitions":
    """Add the check of the published file."""
    from vetl.addons.watch import dagster

    return dagster.definitions()


@addon
def after_publication(settings: "Settings") -> Iterable[str]:
    """Judge the thresholds and send notices; return who is out, and who is in again."""
    from vetl.addons.watch.job import send_notices

    notices = send_notices(settings)
    return (
        *(f"new: {line}" for line in notices.rang),
        *(f"over: {line}" for line in notices.ended),
        *(f"warning: {line}" for line in notices.failures),
    )


@addon
def problems(settings: "Settings", practices: Sequence[str] | None) -> "StatusPart":
    """Return the practices outside of a threshold, as the last publication found them; they are no failure."""
    from vetl.addons.watch.job import status_part

    return status_part(settings, practices)


@addon
def people(settings: "Settings") -> "AddonFiles":
    """Return the ledger of notices."""
    from vetl.addons.watch.settings import WatchSettings
    from vetl.hooks import AddonFiles

    return AddonFiles({"watch-ledger": WatchSettings.of(settings).ledger})
