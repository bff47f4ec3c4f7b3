"""The marts in the words of the metrics: the metric and the dimension of each column."""

from collections.abc import Mapping
from dataclasses import dataclass

Question = tuple[list[str], list[str]]
"""Metrics, and their grouping."""

BY_DAY = {"practice_id": "practice", "day": "metric_time__day"}
RATES = {
    "completion_rate": ("sessions_completed", "sessions"),
    "drop_off_rate": ("stage_left", "stage_reached"),
    "intent_rate": ("intent_calls", "calls"),
    "intent_conversion_rate": ("intent_booked_calls", "intent_calls"),
    "new_booking_conversion_rate": ("new_booking_calls", "new_booking_intent_calls"),
    "acts_booked_rate": ("acts_booked", "acts"),
    "held_out_booked_rate": ("held_out_booked", "held_out"),
    "outreach_booked_rate": ("outreach_booked", "outreach_contacted"),
    "no_show_rate": ("visits_missed", "visits_due"),
    "cancellation_rate": ("visits_canceled", "visits_with_a_result"),
    "reminder_booked_rate": ("reminders_booked", "reminders_due"),
    "rebooked_rate": ("rebooked_within_30_days", "kept_visits"),
    "seen_within_7_days_rate": ("seen_within_7_days", "requests_with_visit"),
    "containment_rate": ("calls_resolved", "calls_with_an_ending"),
    "response_within_1_day_rate": ("responded_within_1_day", "contacts_to_answer"),
}


@dataclass(frozen=True, slots=True)
class Mart:
    """A mart and the names of its columns, or SQL over these, as metrics and dimensions."""

    daily: str
    dimensions: Mapping[str, str]
    metrics: Mapping[str, str]

    @property
    def name(self) -> str:
        """A name that also distinguishes two sets of metrics of one mart."""
        return f"{self.daily}.{next(iter(self.metrics))}"

    def columns(self, key: Mapping[str, str]) -> list[str]:
        return [*key, *self.dimensions, *self.metrics]

    def question(self, key: Mapping[str, str]) -> Question:
        return list(self.metrics.values()), [*key.values(), *self.dimensions.values()]


def named(prefix: str, *names: str) -> dict[str, str]:
    return {name: f"{prefix}{name}" for name in names}


FUNNEL = Mart(
    "booking_funnel_daily",
    named("session__", "referral_source", "referral_campaign", "referral_medium", "client_type"),
    {"sessions": "sessions"}
    | named("sessions_", "completed", "abandoned", "active", "with_appointment")
    | named("", "completion_rate", "median_minutes_to_complete"),
)
STAGES = Mart(
    "booking_funnel_stages",
    {"stage": "stage_of_day__stage"},
    named("stage_", "sessions", "reached", "continued") | {"drop_off_rate": "drop_off_rate"},
)
INTENT = Mart(
    "booking_intent_daily",
    named("call__", "direction", "caller_type", "call_classification"),
    named("", "calls", "intent_calls", "booked_calls", "intent_booked_calls", "missed_intent_calls")
    | named("", "answered_calls", "new_booking_intent_calls", "new_booking_calls", "missed_new_booking_calls")
    | named("", "intent_rate", "intent_conversion_rate", "new_booking_conversion_rate"),
)
OUTCOMES = Mart(
    "outreach_outcomes_daily",
    named("request__", "purpose", "channel"),
    named("outreach_", "requests", "contacted", "booked", "opted_out", "no_response", "undeliverable")
    | named("outreach_", "suppressed", "failed_undispatched", "open", "booked_rate")
    | named("", "median_hours_to_contact", "median_hours_to_outcome"),
)
TASKS = Mart(
    "staff_task_turnaround_daily",
    {"task_type": "task__task_type"},
    named("tasks_", "created", "completed", "canceled", "pending")
    | named("", "median_hours_to_finalize", "median_open_hours_to_finalize", "median_hours_pending"),
)
REOPENED = Mart(
    "staff_task_turnaround_daily",
    {"task_type": "task_day__task_type"},
    {"reopened": "tasks_reopened"},
)
ACTS = Mart(
    "acts_daily",
    {"kind": "act__kind"},
    named("", "acts", "acts_booked", "acts_booked_rate", "held_out", "held_out_booked", "held_out_booked_rate"),
)
VISITS = Mart(
    "visits_daily",
    named("visit_group__", "booked_via", "client_type", "lead_time"),
    {"appointments": "visits", "kept": "visits_kept", "canceled": "visits_canceled", "no_show": "visits_missed"}
    | {"kept + no_show": "visits_due", "appointments - open": "visits_with_a_result"}
    | named("", "no_show_rate", "cancellation_rate"),
)
REBOOKINGS = Mart(
    "rebookings_daily",
    {},
    {"kept_visits": "kept_visits"}
    | {f"booked_{when}": f"rebooked_{when}" for when in ("when_leaving", "within_30_days")}
    | {"booked_within_30_days / kept_visits": "rebooked_rate"},
)
REMINDERS = Mart(
    "recalls_daily",
    {},
    {
        "reminders": "reminders_due",
        "booked_before + booked_after": "reminders_booked",
        "overdue": "reminders_overdue",
    }
    | {"booked_rate": "reminder_booked_rate"},
)
WAITS = Mart(
    "visit_waits_daily",
    {"first_channel": "wait_group__first_channel"},
    {"with_visit": "requests_with_visit"}
    | named("", "seen_within_7_days", "seen_within_14_days")
    | {"seen_within_7_days / nullif(with_visit, 0)": "seen_within_7_days_rate"},
)
ENDINGS = Mart(
    "call_endings_daily",
    named("ending_group__", "is_open", "call_classification"),
    {"calls": "inbound_calls"}
    | named("calls_", "resolved", "handed_over", "lost")
    | {"resolved + handed_over + lost": "calls_with_an_ending", "containment_rate": "containment_rate"},
)
RESPONSES = Mart(
    "first_responses_daily",
    {"channel": "response_group__channel"},
    {"contacts": "contacts_to_answer", "responded": "contacts_responded"}
    | named("", "responded_within_5_minutes", "responded_within_1_hour", "responded_within_1_day")
    | {"responded_within_1_day / contacts": "response_within_1_day_rate"},
)
MARTS = (
    FUNNEL,
    STAGES,
    INTENT,
    OUTCOMES,
    TASKS,
    REOPENED,
    ACTS,
    VISITS,
    REBOOKINGS,
    REMINDERS,
    WAITS,
    ENDINGS,
    RESPONSES,
)

_BY_HOUR = [name for name in INTENT.metrics if name != "new_booking_conversion_rate"]
OTHERS: dict[str, tuple[Question, str]] = {
    "hourly": (
        (_BY_HOUR, ["practice", "practice_day__weekday", "call__hour_of_day"]),
        f"""select practice_id, weekday, hour, {", ".join(_BY_HOUR)} from marts.booking_intent_hourly
            where calls > 0 and hours > 0""",
    ),
    "suppressed": (
        (["outreach_suppressed"], [*BY_DAY.values(), "request__purpose", "request__suppression_reason"]),
        "from marts.outreach_suppressions_daily",
    ),
    "demand": (
        (
            [
                "episodes",
                "episodes_booked",
                "episodes_booked_exactly",
                "episodes_lost",
                "episodes_leaking",
                "demand_contacts",
                "demand_booked_rate",
                "median_hours_to_booking",
                "episodes_kept",
                "episodes_of_known_unbooked",
            ],
            ["practice", "episode__first_channel"],
        ),
        """select practice_id, first_channel, count(*), count(booked_via),
                  count(*) filter (where attribution = 'exact'), count(lost_at), count(leaks.episode_id),
                  sum(demand_ledger.contacts), count(booked_via) / count(*), median(hours_to_booking),
                  count(*) filter (where is_kept),
                  count(*) filter (where begun_by = 'client' and booked_at is null and not is_anonymous)
           from marts.demand_ledger left join marts.leak_list as leaks using (practice_id, episode_id)
           group by all""",
    ),
    "appointments": (
        (["appointments", "appointments_attributed"], ["practice", "appointment__booked_via"]),
        "select practice_id, booked_via, count(*), count(booked_via) from marts.appointments group by all",
    ),
    "minutes": (
        (["staff_minutes", "answered_rate"], ["practice", "call__direction"]),
        """select practice_id, direction, sum(duration_seconds) filter (where is_answered) / 60,
                  count(*) filter (where is_answered) / count(*)
           from marts.phone_calls group by all""",
    ),
    "leavers": (
        (["stage_left"], ["practice", "stage_of_day__stage"]),
        "select practice_id, stage, sum(reached - continued) from marts.booking_funnel_stages group by all",
    ),
}
"""Questions about metrics that no daily mart has, and the same as SQL."""
