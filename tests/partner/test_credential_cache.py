"""Signing in again: temporary refusals, used-up tokens, and the memory of credentials."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.scripted_server import (
    PASSWORD,
    PRACTICE,
    ROLE,
    USERNAME,
    ReceivedRequest,
    Reply,
    Stage,
    many,
    one,
    reply_data,
    reply_error,
    reply_json,
    reply_page,
)
from vetl.core.errors import PracticeRefused, SignInRefused
from vetl.partner.account import AcceptedCredentials
from vetl.partner.client import Account, PartnerClient
from vetl.partner.limits import RetryPolicy
from vetl.store.notes import notes_file, read_note, write_note

REFUSAL = reply_json({"success": False, "data": None, "message": "no"})


@pytest.mark.parametrize("refusal", [REFUSAL, reply_error(401)], ids=["success false", "401"])
def test_a_refusal_of_credentials_that_worked_is_tried_again_apart_in_time(stage: Stage, refusal: Reply) -> None:
    stage.server.sign_in_answers(reply_data({"token": "token-1"}), refusal, refusal, reply_data({"token": "new"}))
    stage.server.handler = lambda asked: (
        reply_error(401) if asked.token == "token-1" and len(stage.server.asked) > 1 else reply_page([])
    )

    async def twice(client: PartnerClient) -> None:
        await one(client)
        await one(client)
        assert client.total.sign_ins == 4

    stage.play(twice)

    assert stage.server.sign_ins == 4
    assert stage.time.slept == [2.0, 4.0]


def test_a_password_that_was_changed_is_believed_in_the_end(stage: Stage) -> None:
    stage.server.sign_in_answers(reply_data({"token": "token-1"}), reply_error(401))

    async def again(client: PartnerClient) -> None:
        await client.sign_in()
        with pytest.raises(SignInRefused):
            await client.sign_in()

    stage.play(again)

    assert stage.server.sign_ins == 1 + 4


def test_credentials_that_worked_are_remembered_from_one_process_to_the_next(stage: Stage, tmp_path: Path) -> None:
    """Beside the warehouse, and only as a slow, salted hash that its owner alone can read."""
    warehouse = tmp_path / "deep" / "vetl.duckdb"
    stage.server.sign_in_answers(reply_data({"token": "t"}), REFUSAL, reply_data({"token": "t"}), REFUSAL)

    async def processes(_: PartnerClient) -> None:
        for password, sign_ins in ((PASSWORD, 1), (PASSWORD, 3), ("another password", 4)):
            account = Account(stage.server.base_url, USERNAME, SecretStr(password), ROLE)
            accepted = AcceptedCredentials(
                partial(read_note, warehouse, "credentials"), partial(write_note, warehouse, "credentials")
            )
            async with PartnerClient(account, timing=stage.time.timing, accepted=accepted) as client:
                await client.sign_in()
            assert stage.server.sign_ins == sign_ins

    with pytest.raises(SignInRefused):
        stage.play(processes)

    assert stage.server.sign_ins == 4
    assert notes_file(warehouse).stat().st_mode & 0o777 == 0o600
    assert not {PASSWORD, USERNAME} & set(read_note(warehouse, "credentials").values())


def test_a_token_that_expires_costs_one_sign_in_and_no_speed(stage: Stage) -> None:
    """A first 401 says nothing of too many requests."""
    inside = 0

    async def handler(asked: ReceivedRequest) -> Reply:
        await asyncio.sleep(0.1)
        return reply_error(401) if asked.token == "token-1" and len(stage.server.asked) > 8 else reply_page([])

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> None:
        nonlocal inside
        await many(client)
        await many(client)
        stage.server.most_in_flight = 0
        await many(client)
        inside = stage.server.most_in_flight

    stage.play(scene)

    assert (stage.server.sign_ins, inside) == (2, 8)


def test_a_practice_that_is_refused_after_the_last_sign_in_is_not_asked_again(stage: Stage) -> None:
    """Each token is good for another practice, so the token might have been used up."""

    async def scene(client: PartnerClient) -> None:
        async def handler(asked: ReceivedRequest) -> Reply:
            if len(stage.server.asked) == 1 or asked.headers["x-client-id"] != PRACTICE:
                return reply_page([])
            await client.page("loc-002", "staff_tasks", {})
            return reply_error(401)

        stage.server.handler = handler
        await one(client)
        with pytest.raises(PracticeRefused, match="401 after each of 2 fresh sign-ins"):
            await one(client)

    stage.play(scene, policy=RetryPolicy(replays_of_used_up=2))

    assert stage.server.sign_ins == 1 + 2


def test_a_renewed_token_that_is_called_forbidden_once_it_has_expired_is_renewed(stage: Stage) -> None:
    """The request met 401 first, and 403 with the token that it then got, which was good for others meanwhile."""

    async def scene(client: PartnerClient) -> None:
        async def handler(asked: ReceivedRequest) -> Reply:
            if ("page", "7") not in asked.query or asked.token == "token-3":
                return reply_page([])
            if asked.token == "token-1":
                return reply_error(401)
            await one(client)
            return reply_error(403)

        stage.server.handler = handler
        await one(client)
        await client.page(PRACTICE, "staff_tasks", {"page": "7"})

    stage.play(scene)

    assert stage.server.sign_ins == 3
