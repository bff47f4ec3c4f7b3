"""The job that predicts the calls of the next days, for its schedule."""

import dagster as dg

from vetl.jobs.forecast import forecast
from vetl.orchestration.keys import WRITER_POOL
from vetl.orchestration.lock_wait import wait_for_lock
from vetl.orchestration.metadata import table
from vetl.orchestration.resources import VetlResource, as_failures

FORECAST = "forecast"


@dg.op(description="Predict the calls of the next 14 days, once for each practice and day.", pool=WRITER_POOL)
def predict_calls(context: dg.OpExecutionContext, vetl: VetlResource) -> None:
    """Predict, and record which practices have no forecast and why.

    Raises:
        dagster.Failure: the extra is not installed, or a file cannot be read or written.
    """
    with as_failures():
        settings = vetl.settings()
        wait_for_lock(settings, context.log.info)
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
