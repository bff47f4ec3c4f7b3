"""One practice, typed: changes are repeated if that is safe, and never if it is not."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from support.scripted_server import PRACTICE, Reply, Stage, reply_data, reply_error, reply_json, reply_page
from vetl.core.errors import ContractBroken, NotSent, TokenRejected, TornAnswer, Unreachable, VetlError
from vetl.partner.client import PartnerClient
from vetl.partner.practice import ListParameters, PartnerPractice
from vetl.partner.request_models import NewStaffTask

ROOT = "/services/core/open_api/v1"
MESSAGE = {"recipient": {"client_id": "c-1"}, "fallback_text": "See you at 9."}
APPOINTMENT = {"slot_id": "s-1", "client_id": 7, "patient_id": 8}
SINCE = datetime(2026, 11, 1, tzinfo=UTC)

Call = Callable[[PartnerPractice], Awaitable[Any]]


CREATIONS: list[Call] = [
    lambda p: p.send_message(MESSAGE),
    lambda p: p.create_appointment(APPOINTMENT),
    lambda p: p.create_staff_task(NewStaffTask(title="Call back")),
]
CHANGES: list[Call] = [
    lambda p: p.update_staff_task("x", {"status": "completed"}),
    lambda p: p.delete_staff_task("x"),
]
"""These are all that writes; `test_against_sandbox.py` calls every path and method."""


def play(stage: Stage, call: Call, **arguments: Any) -> Any:
    async def scene(client: PartnerClient) -> Any:
        return await call(PartnerPractice(client, PRACTICE, **arguments))

    return stage.play(scene)


async def rows(pages: Any) -> list[Any]:
    return [record async for page in pages for record in page.records]


def test_filters_go_out_under_the_names_that_this_server_has(stage: Stage) -> None:
    stage.server.answers(reply_page([]))
    names = {"booking_sessions": ListParameters("since", "until", "state", "p", "limit", first_page=1)}

    play(stage, lambda p: rows(p.booking_sessions(SINCE, status="active")), names=names)

    query = stage.server.asked[0].query
    assert query == [("since", "2026-11-01T00:00:00Z"), ("state", "active"), ("p", "1"), ("limit", "100")]


def test_ids_are_text_new_fields_are_kept_and_new_values_pass(stage: Stage) -> None:
    stage.server.answers(reply_data({"id": 7, "status": "snoozed", "toy": "ball", "created_at": "2026-11-21"}))

    task = play(stage, lambda p: p.create_staff_task({"title": "Call back"}))

    assert (task.id, task.status, task.model_extra) == ("7", "snoozed", {"toy": "ball"})
    assert task.created_at == datetime(2026, 11, 21, tzinfo=UTC)
    assert json.loads(stage.server.asked[0].body) == {"title": "Call back", "task_type": "task"}


def test_times_without_an_offset_are_read_as_the_lists_are(stage: Stage) -> None:
    """`vetl act` compares the answer to its new task with the list, to see whether a person edited the task."""
    stage.server.answers(reply_data({"id": "1", "updated_at": "2026-11-30T14:00:00"}))
    at = datetime(2026, 11, 30, 14, tzinfo=UTC)

    task = play(stage, CREATIONS[2])
    local = play(stage, CREATIONS[2], local_times="America/New_York")

    assert (task.updated_at, local.updated_at) == (at, at + timedelta(hours=5))


def test_only_the_given_fields_change(stage: Stage) -> None:
    stage.server.answers(reply_data({"id": 1}))

    play(stage, lambda p: p.update_staff_task("a/b", {"status": "pending", "description": None}))

    [asked] = stage.server.asked
    assert asked.path == f"{ROOT}/staff_tasks/a%2Fb"
    assert json.loads(asked.body) == {"status": "pending", "description": None}


def test_a_message_with_a_reference_is_sent_again_after_a_502(stage: Stage) -> None:
    stage.server.answers(reply_error(502), reply_data({"id": "m"}, 200))

    play(stage, lambda p: p.send_message({**MESSAGE, "reference_id": "r-1"}))

    assert [json.loads(asked.body)["reference_id"] for asked in stage.server.asked] == ["r-1", "r-1"]


@pytest.mark.parametrize("create", CREATIONS)
@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (reply_error(502), Unreachable),
        (Reply(200, b'{"success": tr', {"Content-Type": "application/json"}), TornAnswer),
        (reply_json({"success": True, "data": []}), ContractBroken),
    ],
)
def test_a_creation_with_an_unknown_result_is_never_repeated(
    stage: Stage, create: Call, failure: Reply, error: type[Exception]
) -> None:
    stage.server.answers(failure)

    with pytest.raises(error, match="the change may have been made, so check before you send it again"):
        play(stage, create)

    assert len(stage.server.asked) == 1


@pytest.mark.parametrize("create", CREATIONS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 422, 429])
def test_a_creation_is_sent_once_whatever_the_refusal(stage: Stage, create: Call, status: int) -> None:
    """A platform or a proxy may refuse with these after the change; the token was good for a read just before."""
    stage.server.handler = lambda asked: reply_page([]) if asked.method == "GET" else reply_error(status)

    async def read_and_create(practice: PartnerPractice) -> None:
        await rows(practice.staff_tasks())
        await create(practice)

    with pytest.raises(VetlError):
        play(stage, read_and_create)

    assert [asked.method for asked in stage.server.asked] == ["GET", "POST"]


def test_the_request_after_a_creation_whose_token_was_rejected_signs_in(stage: Stage) -> None:
    stage.server.handler = lambda asked: (
        reply_data({"id": 1}, 201) if asked.token == "token-2" else reply_error(401)
    )

    async def create_twice(practice: PartnerPractice) -> None:
        with pytest.raises(TokenRejected, match="the change may have been made"):
            await practice.create_staff_task({"title": "Call back"})
        await practice.create_staff_task({"title": "Call back"})

    play(stage, create_twice)

    assert [asked.token for asked in stage.server.asked] == ["token-1", "token-2"]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_says_the_same_twice_is_repeated(stage: Stage, change: Call) -> None:
    stage.server.answers(reply_error(503), reply_data({"id": 1}))

    play(stage, change)

    assert len(stage.server.asked) == 2


@pytest.mark.parametrize("reply", [Reply(204), reply_json({"success": True}), reply_data([])])
def test_a_deletion_needs_no_data_to_be_done(stage: Stage, reply: Reply) -> None:
    stage.server.answers(reply)

    play(stage, lambda p: p.delete_staff_task("x"))

    assert len(stage.server.asked) == 1


UNSENDABLE: list[Call] = [
    lambda p: p.send_message({**MESSAGE, "fallback_text": "x" * 1601}),
    lambda p: p.create_appointment({"slot_id": "s-1"}),
    lambda p: p.update_staff_task("x", {}),
    lambda p: p.update_staff_task("", {"title": "t"}),
    lambda p: p.delete_staff_task(".."),
    lambda p: p.clients(),
    lambda p: p.patients(""),
]


@pytest.mark.parametrize("call", UNSENDABLE)
def test_a_request_that_breaks_the_contract_is_never_sent(stage: Stage, call: Call) -> None:
    with pytest.raises(NotSent):
        play(stage, call)

    assert stage.server.asked == []


def test_messages_keep_the_quota_of_messages_and_reads_do_not_wait_for_it(stage: Stage) -> None:
    """Contract, Limits: 120 messages a minute for each practice."""
    stage.server.answers(reply_data({"id": 1}))

    async def several(practice: PartnerPractice) -> None:
        for _ in range(3):
            await practice.send_message(MESSAGE)
            await practice.message("x")

    play(stage, several)

    assert stage.time.slept == [0.5, 0.5]


def test_a_record_that_breaks_the_contract_names_the_field_not_the_value(stage: Stage) -> None:
    stage.server.answers(reply_data({"id": "1", "created_at": "s3cret"}))

    with pytest.raises(ContractBroken, match="unusable created_at") as caught:
        play(stage, lambda p: p.message("1"))

    assert "s3cret" not in str(caught.value)
