"""Predict the calls of each practice in the next days, and keep the predictions in the private file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from vetl.addons.forecast.predictions import MEASURES, Span, calls_by_hour, keep_forecasts, spans
from vetl.settings import Settings
from vetl.store.warehouse import opened

FEWEST_WEEKS = 8
"""Nothing is predicted from fewer weeks."""

MOST_WEEKS = 26
"""Older weeks would weigh 6 % together."""

_OLDEST = 7
"""Nothing is predicted from calls that end so many days ago."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """The number of predictions that were added, the weeks behind each practice, and why others have none."""

    hours: int
    practices: Mapping[str, int]
    without: Mapping[str, str]


def forecast(settings: Settings) -> Forecast:
    """Predict the calls of the next 14 days from the published file, once for each practice and day."""
    found = {span.practice_id: span for span in spans(settings.warehouse.published)}
    names = dict.fromkeys([*(practice.id for practice in settings.practices), *found])
    reasons = {name: reason_without(found.get(name)) for name in names}
    chosen = [found[name] for name, reason in reasons.items() if reason is None]
    added = _predict(settings, chosen) if chosen else 0
    without = {name: reason for name, reason in reasons.items() if reason}
    return Forecast(added, {span.practice_id: _weeks(span) for span in chosen}, without)


def reason_without(span: Span | None) -> str | None:
    """Return why nothing can be predicted for a practice, or `None` if something can."""
    if span is None:
        return "no inbound call is certified"
    if span.through < span.today - timedelta(days=_OLDEST):
        return f"calls are certified through {span.through} only"
    if span.last_call <= span.through - timedelta(weeks=2):
        return f"no inbound call since {span.last_call}"
    weeks = _weeks(span)
    return f"{FEWEST_WEEKS} weeks of calls are needed, there are {weeks}" if weeks < FEWEST_WEEKS else None


def _weeks(span: Span) -> int:
    return min(((span.through - span.first_call).days + 1) // 7, MOST_WEEKS)


def _predict(settings: Settings, chosen: Sequence[Span]) -> int:
    """Predict, keep the predictions, and return their number."""
    from vetl.addons.forecast.practices import DAYS, ForecastInput, predictions

    inputs = [
        ForecastInput(span.practice_id, span.time_zone, span.as_of, span.today, _weeks(span), span.through)
        for span in chosen
    ]
    since = {one.practice_id: one.through - timedelta(days=7 * one.weeks - 1) for one in inputs}
    hours = calls_by_hour(
        settings.warehouse.published, {one.practice_id: (since[one.practice_id], one.through) for one in inputs}
    )
    off = {
        one.practice_id: settings.definitions.holidays_of(
            one.practice_id, since[one.practice_id], one.made_on + timedelta(days=DAYS)
        )
        for one in inputs
    }
    made = predictions(hours, inputs, off, MEASURES)
    with opened(settings.warehouse) as warehouse, warehouse.writing() as connection:
        return keep_forecasts(connection, made)
