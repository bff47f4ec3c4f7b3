"""`[watch]`: thresholds of metrics, and who hears if a practice is outside of one.

The names of the metrics in `meta.metrics` are here, so that settings can refuse another name without a file.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from vetl.core.text import nearest
from vetl.settings.section import Address, Count, FilePath, Number, Section, Whole

METRIC_NAMES = frozenset(
    {
        "acts",
        "acts_booked",
        "acts_booked_rate",
        "answered_calls",
        "answered_rate",
        "appointments",
        "appointments_attributed",
        "booked_calls",
        "booked_within_7_days",
        "calls",
        "calls_handed_over",
        "calls_lost",
        "calls_resolved",
        "calls_with_an_ending",
        "cancellation_rate",
        "completion_rate",
        "contacts_responded",
        "contacts_to_answer",
        "containment_rate",
        "booking_request_booked_rate",
        "booking_request_contacts",
        "drop_off_rate",
        "booking_requests",
        "booking_requests_booked",
        "booking_requests_booked_exactly",
        "booking_requests_kept",
        "booking_requests_to_call_back",
        "booking_requests_lost",
        "booking_requests_of_known_unbooked",
        "held_out",
        "held_out_booked",
        "held_out_booked_rate",
        "inbound_calls",
        "intent_booked_calls",
        "intent_calls",
        "intent_conversion_rate",
        "intent_rate",
        "kept_visits",
        "median_hours_pending",
        "median_hours_to_booking",
        "median_hours_to_contact",
        "median_hours_to_finalize",
        "median_hours_to_outcome",
        "median_minutes_to_complete",
        "median_open_hours_to_finalize",
        "missed_callers",
        "missed_intent_calls",
        "missed_new_booking_calls",
        "new_booking_callers",
        "new_booking_calls",
        "new_booking_conversion_rate",
        "new_booking_intent_calls",
        "no_show_rate",
        "outreach_booked",
        "outreach_booked_rate",
        "outreach_contacted",
        "outreach_failed_undispatched",
        "outreach_no_response",
        "outreach_open",
        "outreach_opted_out",
        "outreach_requests",
        "outreach_suppressed",
        "outreach_undeliverable",
        "rebooked_rate",
        "rebooked_when_leaving",
        "rebooked_within_30_days",
        "reminder_booked_rate",
        "reminders_booked",
        "reminders_due",
        "reminders_overdue",
        "recovered_within_7_days",
        "requests_with_visit",
        "responded_within_1_day",
        "responded_within_1_hour",
        "responded_within_5_minutes",
        "response_within_1_day_rate",
        "seen_within_14_days",
        "seen_within_7_days",
        "seen_within_7_days_rate",
        "sessions",
        "sessions_abandoned",
        "sessions_active",
        "sessions_completed",
        "sessions_with_appointment",
        "staff_minutes",
        "stage_continued",
        "stage_left",
        "stage_reached",
        "stage_sessions",
        "tasks_canceled",
        "tasks_completed",
        "tasks_created",
        "tasks_pending",
        "tasks_reopened",
        "unique_callers",
        "visits",
        "visits_canceled",
        "visits_due",
        "visits_kept",
        "visits_missed",
        "visits_with_a_result",
    }
)
"""A test compares them with the dbt project."""

METRICS_OF_NOW = frozenset(
    {
        "booking_requests_to_call_back",
        "median_hours_pending",
        "outreach_open",
        "reminders_overdue",
        "sessions_active",
        "tasks_pending",
    }
)
"""The metrics that count what is so at the last sync. They have no value of an earlier day or week."""


Periods = Annotated[Whole, Field(ge=1, le=366)]


def metric_name(name: str) -> str:
    """Return the name of a metric of `meta.metrics`."""
    if name not in METRIC_NAMES:
        raise ValueError(f"is no metric: {name}{nearest(name, sorted(METRIC_NAMES))}")
    if name in METRICS_OF_NOW:
        raise ValueError(f"counts the present state, so no closed day or week has a value: {name}")
    return name


class Threshold(Section):
    """`[[watch.thresholds]]`: a metric by practice, and the values that are out.

    A practice is out if so many closed periods in a row, `periods`, are above or below. A share of fewer
    than `least` cases says nothing. `to` are mail addresses; without any, those of `[alerts]` hear.
    """

    measure: Annotated[str, AfterValidator(metric_name)]
    where: tuple[str, ...] = ()
    practices: tuple[str, ...] = ()
    by: Literal["day", "week"] = "week"
    above: Number | None = None
    below: Number | None = None
    periods: Periods = 1
    least: Count = 10
    to: tuple[Address, ...] = ()

    @model_validator(mode="after")
    def _one_rule(self) -> Self:
        if (self.above is None) == (self.below is None):
            msg = f"{self.measure}: give exactly one of above and below"
            raise ValueError(msg)
        return self

    @property
    def limit(self) -> str:
        """Return the values that are out: `below 0.4`."""
        return f"above {self.above:g}" if self.above is not None else f"below {self.below:g}"

    @property
    def rule(self) -> str:
        """Return the rule in words: `calls by day (direction=inbound) below 1`."""
        of = f" ({', '.join(self.where)})" if self.where else ""
        lasting = f" for {self.periods} {self.by}s" if self.periods > 1 else ""
        return f"{self.measure} by {self.by}{of} {self.limit}{lasting}"


class WatchSettings(Section):
    """`[watch]`: whether headlines ring, the thresholds that every build looks at, and the ledger of notices."""

    headlines: bool = True
    thresholds: tuple[Threshold, ...] = ()
    ledger: FilePath = Path("warehouse/data/watch.sqlite")

    def practices_named(self) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield the practices of each threshold."""
        for number, threshold in enumerate(self.thresholds):
            yield f"thresholds[{number}].practices", threshold.practices
