"""Every mart in plain Python: an independent implementation of the design's definitions, one function for each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from support.cells import cells, same
from support.expected import (
    acts,
    anomalies,
    booking,
    calls,
    demand,
    forecast,
    outreach,
    overview,
    peers,
    practice,
    rows,
    tasks,
    waits,
)
from support.mart_inputs import Expected, Known, once_for_each

FUNCTIONS: tuple[tuple[int, Callable[[Known], Expected]], ...] = (
    (3, acts.acts),
    (3, acts.acts_daily),
    (6, booking.booking_funnel_daily),
    (3, booking.booking_funnel_stages),
    (5, calls.booking_intent_daily),
    (3, calls.booking_intent_hourly),
    (3, booking.appointments_daily),
    (5, booking.visits_daily),
    (4, calls.call_endings_daily),
    (3, overview.caller_wishes),
    (4, outreach.outreach_outcomes_daily),
    (4, outreach.outreach_suppressions_daily),
    (3, tasks.staff_task_turnaround_daily),
    (2, demand.demand_ledger),
    (4, demand.demand_daily),
    (2, demand.leaks),
    (2, demand.leak_list),
    (2, overview.practice_daily),
    (2, overview.practice_weekly),
    (4, overview.report_revisions),
    (3, anomalies.anomalies_daily),
    (2, peers.practice_peers),
    (2, booking.rebookings_daily),
    (2, booking.new_clients_monthly),
    (2, outreach.recalls),
    (2, outreach.recalls_daily),
    (3, forecast.calls_forecast),
    (3, forecast.calls_forecast_scores),
    (3, calls.call_endings_hourly),
    (3, calls.phone_load_hourly),
    (3, waits.visit_waits_daily),
    (2, waits.unbooked_value_monthly),
    (3, demand.demand_contacts),
    (3, demand.first_responses_daily),
    (1, practice.practices),
    (2, practice.practice_days),
    (4, practice.unknown_values),
    (2, rows.phone_calls),
    (2, rows.booking_sessions),
    (2, rows.appointments),
    (2, rows.outreach_requests),
    (2, rows.staff_tasks),
    (2, rows.clients),
    (2, rows.patients),
    (2, rows.messages),
    (2, rows.service_reminders),
)
"""The width of the grain, which a mart's first columns are, and the function of the mart's name."""


@dataclass(frozen=True)
class Mart:
    """A mart as it was built: the names of its columns, and its rows with times in UTC."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


EXPECTED = {function.__name__: (width, once_for_each(function)) for width, function in FUNCTIONS}
"""The same by the mart's name. Many questions use one mart, so each is computed once."""


WHOLE = {"anomalies_daily", "phone_load_hourly", "practice_daily", "practice_peers", "practice_weekly"}
COUNTED = {name for name in EXPECTED if name.endswith(("_daily", "_hourly", "_monthly", "_stages"))} - WHOLE
"""Marts of which only the rows and some columns are expected here.

`tests/transform/test_explain.py` compares their counts with the rows of other marts, by other definitions.
"""


def assert_mart_is_true(name: str, mart: Mart, source: Known) -> None:
    """Assert that a mart has exactly the expected cells, rows and columns."""
    width, function = EXPECTED[name]
    names = mart.columns[width:]
    expected = {key: named(row, names) for key, row in function(source).items()}
    actual = {key: dict(zip(names, row, strict=True)) for key, row in cells(mart.rows, width).items()}
    assert all(row.keys() == set(names) or name in COUNTED for row in expected.values())
    wrong = [f"{key} should be there" for key in expected.keys() - actual.keys()]
    wrong += [f"{key} should not be there" for key in actual.keys() - expected.keys()]
    wrong += [
        f"{column} of {key} is {actual[key][column]!r}, should be {should!r}"
        for key in expected.keys() & actual.keys()
        for column, should in expected[key].items()
        if not same(should, actual[key][column])
    ]
    assert not wrong, "\n".join(sorted(wrong)[:10])


def named(row: tuple[Any, ...] | Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any]:
    return row if isinstance(row, Mapping) else dict(zip(names, row, strict=True))
