"""The job that predicts the calls of the next days, and its schedule."""

import dagster as dg

from vetl.addons.forecast.job import forecast
from vetl.addons.forecast.settings import ForecastSchedule
from vetl.orchestration.metadata import table
from vetl.orchestration.resources import WRITER_POOL, VetlResource, as_failures
from vetl.orchestration.schedules import schedule
from vetl.settings import Settings

FORECAST = "forecast"


@dg.op(description="Predict the calls of the next 14 days, once for each practice and day.", pool=WRITER_POOL)
def predict_calls(context: dg.OpExecutionContext, vetl: VetlResource) -> None:
    """Predict, and record which practices have no forecast and why."""
    with as_failures():
        settings = vetl.settings()
        done = forecast(settings)
    context.add_output_metadata(
        {
            "hours": done.hours,
            "practices": len(done.practices),
            "without": table(("practice", "why"), list(done.without.items())),
        }
    )


@dg.job(name=FORECAST, description="Predict the calls of the next 14 days: the same as `vetl forecast`.")
def forecasts() -> None:
    """Predict the calls."""
    predict_calls()


def definitions(settings: Settings) -> dg.Definitions:
    """Return the job with its schedule."""
    cron = ForecastSchedule.of(settings).forecast
    description = "Predict the calls of the next 14 days."
    return dg.Definitions(
        jobs=[forecasts], schedules=schedule(settings.schedule, FORECAST, cron, FORECAST, dict, description)
    )
