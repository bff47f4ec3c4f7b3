"""`vetl mcp` over stdio, asked as an assistant asks: right numbers, and no number of the wrong kind.

Two servers answer: one for all practices, one for the user of one practice.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.assistant import Assistant
from vetl.cli import app


def test_a_trap_of_a_stale_list_the_practice_and_its_last_sync_are_named(assistant: Assistant) -> None:
    notes = assistant.call("ask", metric="calls")["notes"]

    assert [note.split(" 20")[0] for note in notes if "stale" in note] == [
        "loc-002, loc-003 phone_calls: stale: last synced on"
    ]


def test_a_trap_of_many_rows_an_answer_says_that_it_was_cut(assistant: Assistant) -> None:
    answer = assistant.call("ask", metric="calls", by=["practice", "day"])
    rows = assistant.call("explain", figure="practice_daily.calls", practice="loc-001", rows=50)["rows"]

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
            of_one_practice.call("practices"),
            of_one_practice.call("call_back_list"),
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

    assert tools.keys() == {
        *("list_metrics", "practices", "headlines", "describe", "ask", "explain", "call_back_list", "forecast")
    }
    assert all(tool.annotations.read_only_hint for tool in tools.values())
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools.values())
    assert cell["rows_agree"] is True
    assert {"definition", "is_final", "may_change", "revisions", "evidence"} <= cell.keys()
    called_back = assistant.call("call_back_list")["call_back"][0]
    assert not {"client_name", "phone_number", "summary"} & {*cell["columns"], *called_back}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--practice", "loc-01"), "--practice loc-01: not known here; did you mean loc-001?"),
        (("--http",), "--http needs a token: set VETL_ASSISTANT__TOKEN"),
        (("--user", "anna"), "dashboard.users: there is no user anna; known are none"),
        (("--http", "--user", "anna"), "--user is for stdio; over HTTP the token says who asks"),
    ],
)
@pytest.mark.usefixtures("empty_folder")
def test_a_server_that_must_not_start_says_why(
    options: tuple[str, ...], message: str, stale: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert app.execute(["mcp", "--file", str(stale), *options]) == 2

    said = capfd.readouterr()
    assert message in said.err
    assert said.out == ""
