"""Forecasts of calls for the next 14 days."""

from vetl.hooks import Commands, Hooks, Sections, addon, found_in

definitions = found_in("vetl.addons.forecast.dagster:definitions", Hooks.definitions)


@addon
def settings_sections() -> Sections:
    """Add the line of the schedule."""
    from vetl.addons.forecast.settings import ForecastSchedule

    return {"schedule": ForecastSchedule}


@addon
def commands() -> Commands:
    """Return the command."""
    line = "Predict the calls of the next 14 days, by practice and hour."
    return {"Operate": {"forecast": ("vetl.addons.forecast.command", line)}}
