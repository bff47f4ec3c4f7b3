"""Questions as a person asks an assistant, and their answers by SQL on the marts; asked without a model.

There is one for each form of question; `tests/transform/test_metric_questions.py` has every metric.

An assistant turns the words into a metric, dimensions, filters and days. So these are given here, with names of
practices and with days that count from the present day of the practice, which the tool `practices` has. The last
ones are traps: a right assistant cannot get a number for them.
"""

import json
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from support.assistant import Assistant

Arguments = dict[str, Any]
HARBOR = "practice=Harbor Animal Hospital"
OF_HARBOR = "where practice_id = 'loc-001'"
LAST_WEEK = "day between date '{last_monday}' and date '{last_sunday}'"
EACH = "group by all order by all"


def of(*where: str, by: str = "", since: str = "", until: str = "") -> Arguments:
    """Return the arguments of `ask`; days are named as in `days_of`."""
    days = {name: f"{{{day}}}" for name, day in (("since", since), ("until", until)) if day}
    return {"by": by.split(), "where": list(where), **days}


QUESTIONS: dict[str, tuple[str, Arguments, str]] = {
    "How many calls did Harbor get yesterday?": (
        "calls", of(HARBOR, since="yesterday", until="yesterday"),
        f"count(*) from marts.phone_calls {OF_HARBOR} and day = date '{{yesterday}}'",
    ),
    "Each day of last week?": (
        "calls", of(HARBOR, by="day", since="last_monday", until="last_sunday"),
        f"day, count(*) from marts.phone_calls {OF_HARBOR} and {LAST_WEEK} {EACH}",
    ),
    "How many calls did we get in the last seven days?": (
        "calls", of(since="week_ago"), "count(*) from marts.phone_calls where day >= date '{week_ago}'",
    ),
    "Calls by week?": (
        "calls", of(HARBOR, by="week"),
        f"cast(date_trunc('week', day) as date), count(*) from marts.phone_calls {OF_HARBOR} {EACH}",
    ),
    "Calls by month?": (
        "calls", of(by="month"),
        f"cast(date_trunc('month', day) as date), count(*) from marts.phone_calls {EACH}",
    ),
    "On which weekday do people call?": (
        "calls", of("direction=inbound", by="weekday"),
        f"isodow(day), count(*) from marts.phone_calls where direction = 'inbound' {EACH}",
    ),
    "At which hour do people call?": (
        "calls", of(by="hour_of_day"),
        f"hour(called_at_local), count(*) from marts.phone_calls {EACH}",
    ),
    "Which share of calls is answered?": (
        "answered_rate", of("direction=inbound"),
        ("count(*) filter (where is_answered), count(*), count(*) filter (where is_answered) / count(*)"
        " from marts.phone_calls where direction = 'inbound'"),
    ),
    "Everybody but Harbor?": (
        "calls", of("practice!=loc-001"), "count(*) from marts.phone_calls where practice_id <> 'loc-001'",
    ),
    "How many people called Harbor each week?": (
        "unique_callers", of(HARBOR, by="practice week"),
        f"practice_id, week, unique_callers from marts.practice_weekly {OF_HARBOR} order by all",
    ),
    "Calls that ended without help at night?": (
        "calls_lost", of("is_open=false"), "sum(lost) from marts.call_endings_daily where not is_open",
    ),
    "Where do visitors leave the form?": (
        "drop_off_rate", of(by="stage"),
        ("stage, sum(reached - continued), sum(reached), sum(reached - continued) / nullif(sum(reached), 0)"
        f" from marts.booking_funnel_stages {EACH}"),
    ),
    "Who is booking right now?": (
        "sessions_active", of(), "count(*) from marts.booking_sessions where status = 'active'",
    ),
    "How long does booking take?": (
        "median_minutes_to_complete", of(), "median(minutes_to_complete) from marts.booking_sessions",
    ),
    "How many are to be called back, at each practice?": (
        "booking_requests_to_call_back", of(by="practice"),
        f"practice_id, count(*) from marts.call_back_list {EACH}",
    ),
}  # fmt: skip

TRAPS: dict[str, tuple[str, Arguments, str]] = {
    "How many people called this year?": ("ask", {"metric": "unique_callers"}, "do not add up; ask --by"),
    "Tasks open in March?": ("ask", {"metric": "tasks_pending", "by": ["month"]}, "counts the present state"),
    "Run SQL as a dimension": ("ask", {"metric": "calls", "by": ["(select 1)"]}, "not known here"),
    "How often did Ann call?": ("ask", {"metric": "calls", "where": ["client_name=Ann"]}, "not known here"),
    "Calls of a practice that is none": (
        "ask", {"metric": "calls", "where": ["practice=Harbour"]},
        "practice Harbour: not known here; values are loc-001 (Harbor Animal Hospital), loc-002",
    ),
    "A day that is none": ("ask", {"metric": "calls", "since": "yesterday"}, "since: "),
    "An argument that is none": ("ask", {"metric": "calls", "filter": "direction = 'inbound'"}, "filter"),
    "Read a file": ("explain", {"figure": "read_text('/etc/passwd')"}, "must be a mart and a column|not known"),
    "Read a table of DuckDB": ("explain", {"figure": "duckdb_settings.value"}, "duckdb_settings: not known"),
    "A median of several rows": (
        "explain", {"figure": "staff_task_turnaround_daily.median_hours_to_finalize"}, "do not add up",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def days(assistant: Assistant) -> dict[str, str]:
    """Provide the days that a person means, at Harbor."""
    (harbor,) = (one for one in assistant.call("practices")["practices"] if one["practice_id"] == "loc-001")
    today = date.fromisoformat(harbor["today"])
    monday = today - timedelta(days=today.weekday())
    named = {
        "yesterday": today - timedelta(days=1),
        "week_ago": today - timedelta(days=7),
        "last_monday": monday - timedelta(days=7),
        "last_sunday": monday - timedelta(days=1),
    }
    assert harbor["last_closed_day"] == str(named["yesterday"])
    return {name: str(day) for name, day in named.items()}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_the_answer_of_the_marts_and_its_evidence(
    question: str, assistant: Assistant, sql: Callable[[str], list[list[Any]]], days: dict[str, str]
) -> None:
    metric, arguments, statement = QUESTIONS[question]
    given = {name: value.format(**days) if isinstance(value, str) else value for name, value in arguments.items()}
    answer = assistant.call("ask", metric=metric, **given)

    assert [row[:-2] for row in answer["rows"]] == [
        [pytest.approx(value) if isinstance(value, float) else value for value in row]
        for row in sql(f"select {statement.format(**days)}")
    ]
    assert answer["columns"][-2:] == ["days", "is_final"]
    assert answer["definition"]
    assert answer["is_final_when"]
    assert all(one["as_of"] and one["evidence"] for one in answer["evidence"])
    assert {"certified_through", "quarantined_rows", "last_reconcile_at"} <= answer["evidence"][0].keys()


@pytest.mark.parametrize("trap", TRAPS)
def test_a_trap_is_refused_in_a_line_that_says_why(trap: str, assistant: Assistant) -> None:
    tool, arguments, message = TRAPS[trap]
    said = assistant.refused(tool, **arguments)

    assert any(part in said for part in message.split("|")), said
    assert "\n" not in said


def test_what_an_assistant_reads_first_is_short(assistant: Assistant) -> None:
    """Each character is read by a model, and paid for."""
    shown = json.dumps(assistant.call("list_metrics"), indent=2)
    cell = assistant.call("explain", figure="practice_daily.calls", practice="Harbor Animal Hospital")
    whole = assistant.call("explain", figure="practice_daily.calls", practice="Harbor Animal Hospital", rows=40)

    assert len(shown) <= 6_000
    assert {"calls", "unique_callers", "no_show_rate"} <= set(re.findall(r"\w+", shown))
    assert len(json.dumps(cell, indent=2)) <= 4_000
    assert 0 < len(cell["rows"]) < len(whole["rows"]) == 40


def test_the_list_and_the_forecast_are_those_of_the_marts(
    assistant: Assistant, sql: Callable[[str], list[list[Any]]]
) -> None:
    listed = assistant.call("call_back_list", practice="harbor animal hospital")
    wanted = sql(
        "select urgency, client_id, wanted from marts.call_back_list where practice_id = 'loc-001'"
        " order by urgency limit 20"
    )

    assert [[one["urgency"], one["client_id"], one["wanted"]] for one in listed["call_back"]] == wanted
    assert assistant.call("forecast") == {
        "hours": [],
        "notes": ["there is no forecast: `vetl forecast` makes one"],
    }
    assert "practice Nobody: not known here" in assistant.refused("forecast", practice="Nobody")
