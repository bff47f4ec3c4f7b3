"""Predict the calls of each practice in the next days, and keep the predictions in the private file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from vetl.addons.forecast.practices import DAYS, Span, predictions
from vetl.addons.forecast.predictions import MEASURES, calls_by_hour, keep_forecasts, spans
from vetl.settings import Settings
from vetl.store.warehouse import opened

FEWEST_WEEKS = 8
"""Nothing is predicted from fewer weeks."""

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
    return Forecast(added, {span.practice_id: span.weeks for span in chosen}, without)


def reason_without(span: Span | None) -> str | None:
    """Return why nothing can be predicted for a practice, or `None` if something can."""
    if span is None:
        return "no inbound call is certified"
    if span.through < span.today - timedelta(days=_OLDEST):
        return f"calls are certified through {span.through} only"
    if span.last_call <= span.through - timedelta(weeks=2):
        return f"no inbound call since {span.last_call}"
    if span.weeks < FEWEST_WEEKS:
        return f"{FEWEST_WEEKS} weeks of calls are needed, there are {span.weeks}"
    return None


def _predict(settings: Settings, chosen: Sequence[Span]) -> int:
    holidays_of, ahead = settings.definitions.holidays_of, timedelta(days=DAYS)
    off = {one.practice_id: holidays_of(one.practice_id, one.since, one.today + ahead) for one in chosen}
    made = predictions(calls_by_hour(settings.warehouse.published, chosen), chosen, off, MEASURES)
    with opened(settings.warehouse) as warehouse, warehouse.writing() as connection:
        return keep_forecasts(connection, made)
