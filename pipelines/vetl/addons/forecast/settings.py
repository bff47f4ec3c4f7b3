"""The line of `[schedule]` for forecasts."""

from vetl.settings.core_sections import OFF, Cron
from vetl.settings.section import Section


class ForecastSchedule(Section):
    """`[schedule] forecast`, which is off until somebody sets it."""

    forecast: Cron = OFF
