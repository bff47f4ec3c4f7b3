"""`vetl mcp` over stdio, asked as an assistant asks: right numbers, and no number of the wrong kind.

Two servers answer: one for all practices, one for the user of one practice.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from support.assistant import VETL, Assistant, client_of


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="module")
def assistant(portal: BlockingPortal, stale: Path) -> Iterator[Assistant]:
    with portal.wrap_async_context_manager(client_of("--file", str(stale), "--rows", "40")) as client:
        yield Assistant(portal, client)


@pytest.fixture(scope="module")
def of_one_practice(portal: BlockingPortal, stale: Path) -> Iterator[Assistant]:
    with portal.wrap_async_context_manager(client_of("--file", str(stale), "--practice", "loc-002")) as client:
        yield Assistant(portal, client)


@pytest.fixture
def sql(stale: Path) -> Iterator[Callable[[str], list[list[Any]]]]:
    """Provide rows of the published file, with days as JSON has them."""
    with duckdb.connect(stale, read_only=True) as connection:
        yield lambda statement: json.loads(
            json.dumps([list(row) for row in connection.execute(statement).fetchall()], default=str)
        )


QUESTIONS: dict[str, tuple[str, dict[str, Any], str]] = {
    "calls of one practice": (
        "calls",
        {"where": ["practice=loc-002"]},
        "select count(*) from marts.phone_calls where practice_id = 'loc-002'",
    ),
    "calls by week of one practice": (
        "calls",
        {"by": ["week"], "where": ["practice=loc-001"]},
        """select cast(date_trunc('week', day) as date) as week, count(*) from marts.phone_calls
           where practice_id = 'loc-001' group by all order by all""",
    ),
    "calls since a day": (
        "calls",
        {"since": "2026-01-10"},
        "select count(*) from marts.phone_calls where day >= date '2026-01-10'",
    ),
    "the conversion of those who wanted to book": (
        "intent_conversion_rate",
        {},
        """select sum(intent_booked_calls) as booked, sum(intent_calls) as wanted, booked / wanted
           from marts.booking_intent_daily""",
    ),
    "the completion rate by source": (
        "completion_rate",
        {"by": ["referral_source"]},
        """select referral_source, sum(completed) as done, sum(sessions) as of_all, done / of_all
           from marts.booking_funnel_daily group by all order by all""",
    ),
    "how long tasks take": (
        "median_hours_to_finalize",
        {},
        "select median(hours_to_finalize) from marts.staff_tasks where status = 'completed'",
    ),
    "callers by week": (
        "unique_callers",
        {"by": ["practice", "week"], "where": ["practice=loc-003"]},
        """select practice_id, week, unique_callers from marts.practice_weekly where practice_id = 'loc-003'
           order by all""",
    ),
    "drop-off by stage": (
        "drop_off_rate",
        {"by": ["stage"]},
        """select stage, sum(reached - continued) as left_it, sum(reached) as in_all, left_it / nullif(in_all, 0)
           from marts.booking_funnel_stages group by all order by all""",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_has_the_answer_of_the_marts_and_its_receipt(
    question: str, assistant: Assistant, sql: Callable[[str], list[list[Any]]]
) -> None:
    metric, arguments, statement = QUESTIONS[question]
    answer = assistant.call("ask", metric=metric, **arguments)
    expected = sql(statement)

    assert [row[:-2] for row in answer["rows"]] == [
        [pytest.approx(value) if isinstance(value, float) else value for value in row] for row in expected
    ]
    assert answer["columns"][-2:] == ["days", "is_final"]
    assert answer["definition"]
    assert answer["is_final_when"]
    assert all(one["as_of"] and one["evidence"] for one in answer["evidence"])
    assert {"certified_through", "quarantined_rows", "last_reconcile_at"} <= answer["evidence"][0].keys()


REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a sum of distinct people": ("ask", {"metric": "unique_callers"}, "do not add up; ask --by practice,day"),
    "SQL for a dimension": ("ask", {"metric": "calls", "by": ["(select 1)"]}, "not known here"),
    "a filter on a name": ("ask", {"metric": "calls", "where": ["client_name=Ann"]}, "not known here"),
    "a practice that is none": (
        "ask",
        {"metric": "calls", "where": ["practice=loc-009"]},
        "practice loc-009: not known here; values are loc-001, loc-002",
    ),
    "an argument that is none": ("ask", {"metric": "calls", "filter": "direction = 'inbound'"}, "filter"),
    "a file": ("explain", {"figure": "read_text('/etc/passwd')"}, "must be a mart and a column|not known here"),
    "a table that is no mart": ("explain", {"figure": "duckdb_settings.value"}, "mart duckdb_settings: not known"),
    "a median of several rows": (
        "explain",
        {"figure": "staff_task_turnaround_daily.median_hours_to_finalize"},
        "do not add up",
    ),
}


@pytest.mark.parametrize("trap", REFUSED)
def test_a_trap_is_refused_in_a_line_that_says_why(trap: str, assistant: Assistant) -> None:
    tool, arguments, message = REFUSED[trap]
    said = assistant.refused(tool, **arguments)

    assert any(part in said for part in message.split("|")), said


def test_a_trap_of_a_stale_list_the_practice_and_its_last_sync_are_named(assistant: Assistant) -> None:
    notes = assistant.call("ask", metric="calls")["notes"]

    assert [note.split(" 20")[0] for note in notes if "stale" in note] == [
        "loc-002, loc-003 phone_calls: stale: last synced on"
    ]


def test_a_trap_of_many_rows_an_answer_says_that_it_was_cut(assistant: Assistant) -> None:
    answer = assistant.call("ask", metric="calls", by=["practice", "day"])
    rows = assistant.call("explain", figure="practice_daily.calls", practice="loc-001")["rows"]

    assert len(answer["rows"]) == len(rows) == 40
    assert "only the first 40 rows are here: ask for less" in answer["notes"]


def test_a_user_of_one_practice_reaches_no_row_of_another(
    of_one_practice: Assistant, sql: Callable[[str], list[list[Any]]]
) -> None:
    ((own,),) = sql("select count(*) from marts.phone_calls where practice_id = 'loc-002'")

    assert of_one_practice.ask("calls", by=["practice"])[0][:2] == ["loc-002", own]
    assert of_one_practice.ask("calls")[0][0] == own
    assert [row[0] for row in of_one_practice.ask("unique_callers", by=["practice", "week"])][:1] == ["loc-002"]
    for tool, more in (
        ("ask", {"metric": "calls", "where": ["practice=loc-001"]}),
        ("explain", {"figure": "practice_daily.calls", "practice": "loc-001"}),
    ):
        assert "not known here; values are loc-002" in of_one_practice.refused(tool, **more)
    assert of_one_practice.call("explain", figure="practice_daily.calls")["value"] == own
    seen = json.dumps(
        [
            of_one_practice.call("list_metrics"),
            of_one_practice.call("describe", metric="booking_requests"),
            of_one_practice.call("ask", metric="drop_off_rate", by=["practice", "stage"]),
            of_one_practice.call("ask", metric="calls", where=["practice!=loc-002"]),
            of_one_practice.call("ask", metric="calls", where=["practice>a"], by=["practice", "group"]),
        ]
    )
    assert "loc-001" not in seen
    assert "loc-003" not in seen


def test_the_tools_only_read_and_name_no_person(assistant: Assistant) -> None:
    tools = assistant.tools()
    cell = assistant.call("explain", figure="booking_intent_daily.missed_intent_calls", practice="loc-001")

    assert tools.keys() == {"list_metrics", "headlines", "describe", "ask", "explain"}
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools.values())
    assert cell["rows_agree"] is True
    assert {"definition", "is_final", "may_change", "revisions", "evidence"} <= cell.keys()
    assert not {"client_name", "phone_number", "summary"} & set(cell["columns"])
    assert {one["name"] for one in assistant.call("list_metrics")["metrics"]} > {"calls", "unique_callers"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--practice", "loc-01"), "--practice loc-01: not known here; did you mean loc-001?"),
        (("--http",), "--http needs a token: set VETL_ASSISTANT__TOKEN"),
        (("--user", "anna"), "dashboard.users: there is no user anna; known are none"),
        (("--http", "--user", "anna"), "--user is for stdio; over HTTP the token says who asks"),
    ],
)
def test_a_server_that_must_not_start_says_why(options: tuple[str, ...], message: str, stale: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("VETL_")}
    command = [*VETL, "mcp", "--file", str(stale), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
