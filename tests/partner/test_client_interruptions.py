"""Temporary failures are repeated, permanent failures are raised at once.

Servers may speak HTTP/1.0, in chunks and without lengths.
"""

import asyncio
import json

import pytest
from support.scripted_server import (
    PRACTICE,
    SERVER_TIME,
    ReceivedRequest,
    Reply,
    Stage,
    one,
    reply_data,
    reply_error,
    reply_json,
    reply_page,
    until,
)
from vetl.core.errors import ContractBroken, RequestRefused, TooLarge, TornAnswer, Unreachable, VetlError
from vetl.core.pages import CallsPage, Page
from vetl.partner import wire
from vetl.partner.client import Limits, PartnerClient
from vetl.partner.limits import RetryPolicy
from vetl.partner.protocol import LARGEST_JSON

WHOLE = reply_page([{"id": "1"}])


def never_parsed(_: object) -> CallsPage:
    raise AssertionError


@pytest.mark.parametrize(
    "torn",
    [
        *(reply_error(status) for status in (408, 425, 500, 502, 503, 504, 599)),
        Reply(body=WHOLE.body, cut=40),
        Reply(body=b"", cut=0),
        Reply(body=WHOLE.body[:-9]),
        Reply(body=b"<html>Log in</html>"),
        Reply(body=b""),
        Reply(body=b"null"),
        Reply(status=204),
        Reply(status=302, headers={"Location": "https://elsewhere.example/login"}),
        Reply(body=WHOLE.body, headers={"Content-Encoding": "gzip"}),
        reply_json({"success": False, "data": None, "message": "busy"}),
        reply_json({"data": {}}),
        reply_data({"content": [], "total_count": None}),
        reply_data({"content": [], "total_count": -1}),
        reply_data({"content": {}, "total_count": 0}),
        reply_data(None),
    ],
    ids=lambda reply: f"{reply.status} {reply.body[:30]!r} cut={reply.cut}",
)
def test_temporary_failures_are_repeated(stage: Stage, torn: Reply) -> None:
    stage.server.answers(torn, torn, WHOLE)

    page = stage.play(one)

    assert (page.rows, page.requests) == (({"id": "1"},), 3)
    assert stage.time.slept == [0.5, 1]


def test_waits_grow_and_end_with_the_attempts(stage: Stage) -> None:
    stage.server.answers(reply_error(503, "down for maintenance"))

    with pytest.raises(Unreachable) as caught:
        stage.play(one)

    assert str(caught.value) == (
        "GET staff_tasks for practice loc-001: 503 Service Unavailable: down for maintenance (6 attempts)"
    )
    assert stage.time.slept == [0.5, 1, 2, 4, 8]
    assert len(stage.server.asked) == 6


@pytest.mark.parametrize(("asked", "waited"), [("7", 7), ("Sat, 21 Nov 2026 10:00:30 GMT", 30)])
def test_retry_after_of_a_429_is_heeded_by_all_of_the_practice(stage: Stage, asked: str, waited: float) -> None:
    started: list[float] = []

    def handler(_: ReceivedRequest) -> Reply:
        started.append(stage.time.seconds)
        return reply_error(429, Retry_After=asked) if len(started) == 1 else WHOLE

    stage.server.handler = handler

    async def scene(client: PartnerClient) -> None:
        await client.sign_in()
        first = asyncio.create_task(one(client))
        await until(lambda: stage.time.slept)
        await asyncio.gather(*(one(client) for _ in range(3)), first)

    stage.play(scene)

    assert len(started) == 5
    assert all(moment >= 1000 + waited for moment in started[1:])


def test_a_quota_per_minute_without_retry_after_is_waited_out(stage: Stage) -> None:
    """Every request of the minute has been used up: the pauses must add up to more than a minute."""
    stage.server.handler = lambda _: WHOLE if stage.time.seconds > 1060 else reply_error(429)

    async def scene(client: PartnerClient) -> list[Page]:
        return await asyncio.gather(*(one(client) for _ in range(20)))

    assert len(stage.play(scene)) == 20


def test_no_more_than_the_limit_are_in_flight_per_practice_and_in_all(stage: Stage) -> None:
    async def handler(_: ReceivedRequest) -> Reply:
        for _turn in range(20):
            await asyncio.sleep(0)
        return WHOLE

    stage.server.handler = handler
    limits = Limits(max_in_flight=3, max_in_flight_total=5)

    async def scene(client: PartnerClient, practices: int) -> None:
        names = [f"loc-{n % practices}" for n in range(40)]
        await asyncio.gather(*(client.page(name, "staff_tasks", {}) for name in names))

    stage.play(lambda client: scene(client, 1), limits)
    assert stage.server.most_in_flight == 3
    stage.server.most_in_flight = 0
    stage.play(lambda client: scene(client, 4), limits)
    assert stage.server.most_in_flight == 5


def test_a_refusal_is_not_repeated_and_carries_every_field(stage: Stage) -> None:
    errors: list[dict[str, str | None]] = [{"field": f"card.buttons.{n}", "message": "is wrong"} for n in range(7)]
    errors.append({"field": None, "message": "outside hours"})
    body = {"success": False, "message": "first", "data": {"message": "first", "errors": errors}}
    stage.server.answers(reply_json(body, 400))

    with pytest.raises(RequestRefused) as caught:
        stage.play(one)

    assert caught.value.status == 400
    wrong = [(f"card.buttons.{n}", "is wrong") for n in range(7)]
    assert caught.value.fields == (*wrong, (None, "outside hours"))
    assert str(caught.value).endswith("card.buttons.4: is wrong; and 3 more")
    assert len(stage.server.asked) == 1


@pytest.mark.parametrize("status", [301, 400, 402, 405, 413, 422, 451])
def test_other_refusals_are_final(stage: Stage, status: int) -> None:
    stage.server.answers(Reply(status, b"plainly no"))
    with pytest.raises(RequestRefused) as caught:
        stage.play(one)
    assert caught.value.status == status
    assert len(stage.server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Reply(body=b""), TornAnswer),
        (Reply(body=b"<html>"), TornAnswer),
        (reply_json({"success": False, "message": "no"}), TornAnswer),
        (reply_page([]), ContractBroken),
        (Reply(body=b"Date\n"), ContractBroken),
        (Reply(body=b"Date\n", headers={"X-Total-Count": "many"}), ContractBroken),
        (reply_error(400, "start_date is no date"), RequestRefused),
    ],
)
def test_an_answer_that_is_no_csv_page_is_recognised(stage: Stage, answer: Reply, error: type[VetlError]) -> None:
    stage.server.answers(answer)
    with pytest.raises(error):
        stage.play(lambda client: client.calls(PRACTICE, {}, parse=never_parsed))


def test_a_server_that_does_not_answer_in_time_is_asked_again(stage: Stage) -> None:
    stage.server.answers(Reply(hang=True), WHOLE)
    assert stage.play(one, Limits(timeout_seconds=0.05)).requests > 1


def test_an_answer_that_is_too_large_is_not_requested_again(stage: Stage) -> None:
    stage.server.answers(Reply(body=b" " * (LARGEST_JSON + 1)), WHOLE)
    with pytest.raises(TooLarge, match="the answer is larger than 8 MiB"):
        stage.play(one)


def test_an_answer_that_drips_without_end_is_given_up(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PATIENCE", 0.02)
    stage.server.answers(Reply(hang=True))
    with pytest.raises(Unreachable, match="did not end in time"):
        stage.play(one, Limits(timeout_seconds=10), RetryPolicy(attempts=1))


DATE = f"Date: {SERVER_TIME}\r\n".encode()
BODY = json.dumps({"success": True, "data": {"total_count": "1", "content": [{"id": 1}]}}).encode()


def old(body: bytes) -> Reply:
    return Reply(raw=b"HTTP/1.0 200 OK\r\n" + DATE + b"\r\n" + body)


def chunked(body: bytes, *, ended: bool = True) -> Reply:
    chunks = b"".join(
        b"%x\r\n%s\r\n" % (len(body[at : at + 7]), body[at : at + 7]) for at in range(0, len(body), 7)
    )
    head = b"HTTP/1.1 200 OK\r\n" + DATE + b"transfer-encoding: chunked\r\n\r\n"
    return Reply(raw=head + chunks + (b"0\r\n\r\n" if ended else b""))


@pytest.mark.parametrize("reply", [old(BODY), chunked(BODY)], ids=["HTTP/1.0, ended by closing", "chunked"])
def test_a_page_is_read_however_it_is_framed(stage: Stage, reply: Reply) -> None:
    stage.server.answers(reply)

    page = stage.play(one)

    assert (page.rows, page.total_count) == (({"id": 1},), 1)


@pytest.mark.parametrize(
    "torn", [old(BODY[:-9]), chunked(BODY[:-9]), chunked(BODY, ended=False)], ids=["closed", "short", "unended"]
)
def test_a_page_that_breaks_off_without_a_length_is_read_again(stage: Stage, torn: Reply) -> None:
    stage.server.answers(torn, chunked(BODY))

    assert stage.play(one).requests == 2


@pytest.mark.parametrize("status", [b"204 No Content", b"205 Reset Content"])
def test_no_content_is_not_taken_for_an_empty_list(stage: Stage, status: bytes) -> None:
    """It has no total: taken as an empty list, it would delete every row."""
    stage.server.answers(Reply(raw=b"HTTP/1.1 " + status + b"\r\n" + DATE + b"\r\n"))

    with pytest.raises(TornAnswer, match="an empty body"):
        stage.play(one)
