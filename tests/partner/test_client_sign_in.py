"""One sign-in for all requests, again when the token expires, and never a secret in sight.

Signing in again: temporary refusals, used-up tokens, and the memory of credentials.
"""

import asyncio
import json
from collections import Counter
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
    until,
)
from vetl.core.errors import (
    ConfigurationError,
    ContractBroken,
    PracticeRefused,
    SignInRefused,
    Unreachable,
    VetlError,
    Withheld,
)
from vetl.core.pages import Page
from vetl.partner.account import AcceptedCredentials
from vetl.partner.client import Account, Limits, PartnerClient
from vetl.partner.retries import RetryPolicy
from vetl.store.notes import notes_file, read_note, write_note


async def ends(client: PartnerClient, reads: int) -> list[object]:
    """Read so many pages at once; return each or its error."""
    return list(await asyncio.gather(*(one(client) for _ in range(reads)), return_exceptions=True))


def test_a_late_401_on_an_old_token_causes_no_sign_in(stage: Stage) -> None:
    """A request was on its way with the old token while another request had already received the new token."""
    slow_answers = asyncio.Event()

    async def handler(asked: ReceivedRequest) -> Reply:
        if asked.token == "token-1" and asked.query == [("page", "slow")]:
            await slow_answers.wait()
        return reply_page([]) if asked.token == "token-2" else reply_error(401)

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> None:
        await client.sign_in()
        slow = asyncio.create_task(client.page(PRACTICE, "staff_tasks", {"page": "slow"}))
        await client.page(PRACTICE, "staff_tasks", {"page": "fast"})
        slow_answers.set()
        await slow

    stage.play(scene)
    assert stage.server.sign_ins == 2


def test_a_platform_that_hands_out_the_same_token_again_is_asked_each_time(stage: Stage) -> None:
    stage.server.sign_in_answers(reply_data({"token": "same"}))
    stage.server.answers(reply_error(401), reply_error(401), reply_page([]))

    page = stage.play(one)

    assert (page.requests, stage.server.sign_ins) == (3, 3)


def test_a_token_may_be_good_only_some_time_after_its_sign_in(stage: Stage) -> None:
    """The platform has several servers. An early sign-in begins the wait again."""
    born: dict[str, float] = {}

    def sign_in(_: ReceivedRequest) -> Reply:
        born[token := f"token-{stage.server.sign_ins}"] = stage.time.seconds
        return reply_data({"token": token})

    stage.server.sign_in = sign_in
    stage.server.handler = lambda asked: (
        reply_page([]) if stage.time.seconds - born[asked.token] >= 1 else reply_error(401)
    )

    stage.play(many)

    assert stage.server.sign_ins <= 4


@pytest.mark.parametrize("kind", ["late", "used up"])
def test_tokens_that_were_never_accepted_are_told_from_those_that_were_used_up(stage: Stage, kind: str) -> None:
    uses = Counter[str]()

    def handler(asked: ReceivedRequest) -> Reply:
        uses[asked.token] += 1
        is_good = asked.token == "token-4" if kind == "late" else uses[asked.token] <= 2
        return reply_page([]) if is_good else reply_error(401)

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> int:
        for _ in range(7):
            await one(client)
        return client.tokens_never_accepted

    assert stage.play(scene) == (3 if kind == "late" else 0)
    assert stage.server.sign_ins == 4


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer  ", ""])
def test_a_token_may_come_with_its_scheme(stage: Stage, scheme: str) -> None:
    stage.server.sign_in_answers(reply_data({"token": f"{scheme}eyJ.x"}))

    stage.play(one)

    assert [asked.headers["authorization"] for asked in stage.server.asked] == ["Bearer eyJ.x"]


def test_a_request_follows_at_most_five_fresh_sign_ins(stage: Stage) -> None:
    stage.server.answers(reply_error(401))

    with pytest.raises(PracticeRefused, match=f"GET staff_tasks for practice {PRACTICE}: 401") as caught:
        stage.play(one)

    assert caught.value.status == 401
    assert stage.server.sign_ins == 6
    assert len(stage.server.asked) == 6


def test_a_token_that_was_good_and_is_forbidden_now_is_renewed_once(stage: Stage) -> None:
    """Some platforms answer 403, not 401, when a token has expired or was revoked."""
    stage.server.handler = lambda asked: (
        reply_error(403) if asked.token == "token-1" and len(stage.server.asked) > 1 else reply_page([])
    )

    async def twice(client: PartnerClient) -> None:
        await one(client)
        await one(client)

    stage.play(twice)

    assert [asked.token for asked in stage.server.asked] == ["token-1", "token-1", "token-2"]


@pytest.mark.parametrize(
    "expired",
    [reply_json({"success": False, "data": None, "message": "expired"}), Reply(302, b"", {"Location": "/login"})],
    ids=["success false", "redirect"],
)
def test_a_token_that_was_good_and_is_answered_twice_without_401_is_renewed_once(
    stage: Stage, expired: Reply
) -> None:
    """The contract confirms 401 for messages only; some platforms send an expired token to their login page."""
    stage.server.handler = lambda asked: (
        expired if asked.token == "token-1" and len(stage.server.asked) > 1 else reply_page([])
    )

    async def twice(client: PartnerClient) -> None:
        await one(client)
        await one(client)

    stage.play(twice)

    assert [asked.token for asked in stage.server.asked] == [*["token-1"] * 3, "token-2"]


def test_a_list_that_fails_with_success_false_costs_one_sign_in(stage: Stage) -> None:
    stage.server.handler = lambda asked: (
        reply_error(200) if asked.path.endswith("appointments") else reply_page([])
    )

    async def both(client: PartnerClient) -> None:
        await client.page(PRACTICE, "staff_tasks", {})
        with pytest.raises(Withheld):
            await client.page(PRACTICE, "appointments", {})

    stage.play(both)

    assert stage.server.sign_ins == 2


def test_a_list_that_is_forbidden_costs_one_sign_in_and_stays_so(stage: Stage) -> None:
    stage.server.handler = lambda asked: (
        reply_error(403) if asked.path.endswith("appointments") else reply_page([])
    )

    async def both(client: PartnerClient) -> None:
        await client.page(PRACTICE, "staff_tasks", {})
        with pytest.raises(PracticeRefused):
            await client.page(PRACTICE, "appointments", {})

    stage.play(both)

    assert (stage.server.sign_ins, len(stage.server.asked)) == (2, 3)


@pytest.mark.parametrize(
    "refusal",
    [
        *(reply_error(status, f"bad password {PASSWORD}") for status in (400, 401, 403, 422)),
        reply_json({"success": False, "data": None, "message": f"no user {USERNAME}"}),
    ],
    ids=["400", "401", "403", "422", "success false"],
)
def test_a_refused_sign_in_is_final_and_quotes_nothing(stage: Stage, refusal: Reply) -> None:
    """A repeated refused sign-in could lock the account: no attempt and no later request repeats it."""
    stage.server.sign_in_answers(refusal)

    async def scene(client: PartnerClient) -> list[object]:
        return [*await ends(client, 8), *await ends(client, 1)]

    results = stage.play(scene)

    assert all(isinstance(result, SignInRefused) for result in results)
    assert stage.server.sign_ins == 1
    assert "VETL_PARTNER__PASSWORD" in str(results[0])
    assert PASSWORD not in str(results) + str(stage.logs)
    assert USERNAME not in str(results) + str(stage.logs)


def test_a_sign_in_through_an_outage_is_repeated(stage: Stage) -> None:
    answers = [reply_error(502), reply_error(429, Retry_After="7"), Reply(body=b"<html>"), Reply(cut=0, body=b"x")]
    stage.server.sign_in_answers(*answers, reply_data({"token": "t"}))

    stage.play(PartnerClient.sign_in)

    assert stage.server.sign_ins == 5
    assert 7 in stage.time.slept


def test_a_sign_in_that_never_answers_is_unreachable_once_for_all(stage: Stage) -> None:
    """The reads that wait for it do not each begin their own series of attempts."""
    stage.server.sign_in_answers(reply_error(503))

    results = stage.play(lambda client: ends(client, 8))
    assert all(isinstance(result, Unreachable) for result in results)
    assert stage.server.sign_ins == 6


@pytest.mark.parametrize(
    "data", [{}, {"token": None}, {"token": ""}, {"token": "two words"}, {"token": "Zoë"}, []]
)
def test_a_success_without_a_usable_token_breaks_the_contract(stage: Stage, data: object) -> None:
    stage.server.sign_in_answers(reply_data(data))
    with pytest.raises(ContractBroken, match="token"):
        stage.play(PartnerClient.sign_in)


@pytest.mark.parametrize("status", [301, 404, 405])
def test_no_sign_in_at_the_address_is_a_matter_of_configuration(stage: Stage, status: int) -> None:
    stage.server.sign_in_answers(reply_error(status))
    with pytest.raises(ConfigurationError, match=r"partner\.base_url"):
        stage.play(PartnerClient.sign_in)
    assert stage.server.sign_ins == 1


def test_the_end_of_one_reader_does_not_cost_the_others_their_sign_in(stage: Stage) -> None:
    go_on = asyncio.Event()

    async def slow_sign_in(_: ReceivedRequest) -> Reply:
        await go_on.wait()
        return reply_data({"token": "t"})

    stage.server.sign_in = slow_sign_in

    async def scene(client: PartnerClient) -> Page:
        first, second = asyncio.create_task(one(client)), asyncio.create_task(one(client))
        await until(lambda: stage.server.sign_ins)
        first.cancel()
        await asyncio.sleep(0)
        go_on.set()
        return await second

    stage.play(scene)
    assert stage.server.sign_ins == 1


def test_a_client_that_is_closed_during_a_sign_in_ends_it(stage: Stage) -> None:
    stage.server.sign_in_answers(Reply(hang=True))

    async def scene(client: PartnerClient) -> None:
        reader = asyncio.create_task(one(client))
        await until(lambda: stage.server.sign_ins)
        reader.cancel()

    stage.play(scene)


@pytest.mark.parametrize("status", [400, 401, 403, 409, 429, 500, 503, 200])
def test_no_error_and_no_log_holds_a_secret_that_the_server_quotes(stage: Stage, status: int) -> None:
    quoted = f"{USERNAME} {PASSWORD} token-1 TOKEN-1 call +1 (555) 010-4477 or ann.o'neill@example.com"
    errors = [{"field": quoted, "message": quoted}]
    body = {"success": False, "message": quoted, "data": {"message": quoted, "errors": errors}}
    stage.server.answers(reply_json(body, status))

    with pytest.raises(VetlError) as caught:
        stage.play(one)

    text = json.dumps([str(caught.value), repr(caught.value), stage.logs], default=str)
    text += str(getattr(caught.value, "fields", ()))
    for secret in (USERNAME, PASSWORD, "token-1", "555", "4477", "ann.o", "example.com"):
        assert secret not in text.lower()


def test_requests_that_waited_for_their_turn_are_sent_with_the_newest_token(stage: Stage) -> None:
    """Forty requests queue with the first token; only the few sent before the second one came meet a 401."""
    stage.server.handler = lambda asked: reply_page([]) if asked.token == "token-2" else reply_error(401)

    async def scene(client: PartnerClient) -> list[Page]:
        reads = (client.page(PRACTICE, "staff_tasks", {"page": str(n)}) for n in range(40))
        return await asyncio.gather(*reads)

    pages = stage.play(scene, Limits(max_in_flight=1))
    assert sum(page.requests > 1 for page in pages) < 20
    assert stage.server.sign_ins == 2


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


def test_a_token_that_expires_costs_one_sign_in_and_no_speed_and_all_requests_are_replayed(stage: Stage) -> None:
    """A first 401 says nothing of too many requests."""

    async def handler(asked: ReceivedRequest) -> Reply:
        await asyncio.sleep(0.02)
        return reply_error(401) if asked.token == "token-1" and len(stage.server.asked) > 8 else reply_page([])

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> list[Page]:
        await many(client)
        replayed = await many(client)
        stage.server.most_in_flight = 0
        await many(client)
        return replayed

    assert [page.requests for page in stage.play(scene)] == [2] * 8
    assert (stage.server.sign_ins, stage.server.most_in_flight) == (2, 8)


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
