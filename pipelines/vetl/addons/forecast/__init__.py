"""Forecasts of calls for the next 14 days."""

from typing import TYPE_CHECKING

from vetl.hooks import addon

if TYPE_CHECKING:
    import dagster as dg

    from vetl.hooks import Commands, Sections
    from vetl.settings import Settings


@addon
def settings_sections() -> "Sections":
    """Add the line of the schedule."""
    from vetl.addons.forecast.settings import ForecastSchedule

    return {"schedule": ForecastSchedule}


@addon
def commands() -> "Commands":
    """Return the command."""
    line = "Predict the calls of the next 14 days, by practice and hour."
    return {"Operate": {"forecast": ("vetl.addons.forecast.command", line)}}


@addon
def definitions(settings: "Settings") -> "dg.Definitions":
    """Return the job and its schedule."""
    from vetl.addons.forecast import dagster

    return dagster.definitions(settings)
