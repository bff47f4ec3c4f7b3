"""Forecasts of calls for the next 14 days."""

from vetl.hooks import Hooks, command_in, found_in, sections_in

settings_sections = sections_in("vetl.addons.forecast.settings", schedule="ForecastSchedule")
commands = command_in(
    "vetl.addons.forecast.command",
    "Operate",
    "forecast",
    "Predict the calls of the next 14 days, by practice and hour.",
)
definitions = found_in("vetl.addons.forecast.dagster:definitions", Hooks.definitions)
