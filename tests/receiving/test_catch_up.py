"""Messages and outreach whose webhooks may have been missed are read by id."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from support.deliveries import message, outreach
from support.drain_side import NOW, Side
from vetl.core.errors import PracticeRefused, RequestRefused, Unreachable, VetlError
from vetl.core.pages import Row
from vetl.receiving.into_warehouse import CatchUp, Caught


class Platform:
    """The answers of get-message and get-request."""

    def __init__(self, rows: Mapping[str, Row | int | VetlError]) -> None:
        self.rows = rows
        self.asked: list[str] = []

    async def record(self, practice_id: str, path: str, record_id: str) -> Row | None:
        assert practice_id == "loc-001"
        self.asked.append(f"{path}/{record_id}")
        answer = self.rows.get(record_id)
        if isinstance(answer, VetlError):
            raise answer
        if isinstance(answer, int):
            raise RequestRefused("no", status=answer)
        return answer


def caught_up(side: Side, platform: Any, now: datetime = NOW) -> Caught:
    return asyncio.run(CatchUp(platform, side.warehouse, "run-2", now).messages("loc-001"))


def outreach_caught_up(side: Side, platform: Any, now: datetime = NOW) -> Caught:
    return asyncio.run(CatchUp(platform, side.warehouse, "run-2", now).outreach("loc-001"))


def test_a_message_that_moved_on_without_a_webhook_is_caught_up(side: Side) -> None:
    side.receive(("messages", message("m-1", "sent")), ("messages", message("m-2", "read")))
    side.drain()
    platform = Platform({"m-1": {"id": "m-1", "status": "delivered", "channel_used": "sms"}})

    assert caught_up(side, platform).changes.updated == 1

    assert platform.asked == ["messages/m-1"]
    assert side.rows("select status from raw.messages order by id") == [("delivered",), ("read",)]
    assert side.rows("select id, status from history.messages") == [("m-1", "sent")]
    assert caught_up(side, platform, NOW + timedelta(days=9)) == Caught()


TIMELESS = {"created_at": None, "sent_at": None, "occurred_at": None, "timestamp": None}


@pytest.mark.parametrize(("times", "often"), [({}, 7), (TIMELESS, 8)], ids=["with its time", "without any time"])
def test_a_message_that_stays_as_it_is_is_asked_for_as_often_as_its_age_doubles(
    side: Side, times: dict[str, None], often: int
) -> None:
    side.receive(("messages", message("m-1", "sent", **times)))
    side.drain()
    created = {} if times else {"created_at": "2026-03-01T10:00:00Z"}
    platform = Platform({"m-1": {"id": "m-1", "status": "sent", **created}})

    for hours in range(0, 24 * 8, 2):
        caught_up(side, platform, NOW + timedelta(hours=hours))

    assert len(platform.asked) == often


def test_outreach_that_contradicts_its_webhook_is_requested_as_often_as_its_age_doubles(side: Side) -> None:
    """Its webhook has ended it; get-request continues to say that it is in progress."""
    side.receive(("ai_outbound", outreach("r-1")))
    side.drain()
    platform = Platform({"r-1": {"id": "r-1", "status": "in_progress"}})

    for hours in range(2, 24 * 8, 2):
        outreach_caught_up(side, platform, NOW + timedelta(hours=hours))

    assert len(platform.asked) == 7


def test_a_message_that_fails_for_itself_stops_no_other_and_waits_its_turn(side: Side) -> None:
    side.receive(*(("messages", message(f"m-{number}", "sent")) for number in range(4)))
    side.drain()
    later = {"status": "delivered", "channel_used": "sms"}
    platform = Platform({"m-0": Unreachable("500"), **{f"m-{n}": {"id": f"m-{n}", **later} for n in (1, 2, 3)}})

    caught = caught_up(side, platform)

    assert (caught.changes.updated, caught.notes) == (3, ("loc-001: 1 of messages not caught up: 500",))
    assert caught_up(side, platform) == Caught()
    assert caught_up(side, platform, NOW + timedelta(hours=3)).requested == 1


def test_a_platform_that_answers_nothing_is_not_asked_for_everything(side: Side) -> None:
    side.receive(*(("messages", message(f"m-{number}", "sent")) for number in range(40)))
    side.drain()
    platform = Platform({f"m-{number}": Unreachable("500") for number in range(40)})

    caught_up(side, platform)

    assert len(platform.asked) < 20
    with pytest.raises(PracticeRefused):
        caught_up(side, Platform({f"m-{number}": PracticeRefused("no", status=403) for number in range(40)}))


def test_a_message_that_was_given_is_followed_like_any_other(side: Side) -> None:
    platform: Any = Platform({"m-1": {"id": "m-1", "status": "sent", "created_at": "2026-03-01T11:00:00Z"}})
    catching = CatchUp(platform, side.warehouse, "run-2", NOW)

    caught = asyncio.run(catching.messages_by_id("loc-001", ["m-1", "m-2"]))

    assert (caught.changes.inserted, caught.missing) == (1, ("m-2",))
    assert side.rows("select id, status from raw.messages") == [("m-1", "sent")]
    assert caught_up(side, platform) == Caught()
    assert caught_up(side, platform, NOW + timedelta(hours=1)).requested == 1


def test_right_after_a_webhook_the_next_one_is_waited_for(side: Side) -> None:
    side.receive(("messages", message("m-1", "sent", occurred_at="2026-03-01T11:58:00Z")))
    side.drain()
    platform = Platform({})

    assert caught_up(side, platform) == Caught()
    assert caught_up(side, platform, NOW + timedelta(minutes=4)).requested == 1


@pytest.mark.parametrize("answer", [None, 400, 404, 422])
def test_a_message_that_the_platform_does_not_know_stays_and_is_marked(side: Side, answer: int | None) -> None:
    side.receive(("messages", message("m-1", "sent")))
    side.drain()
    caught_up(side, Platform({} if answer is None else {"m-1": answer}))

    assert side.rows("select status, _deleted_at from raw.messages") == [("sent", NOW)]


def test_a_stale_answer_moves_no_message_back(side: Side) -> None:
    side.receive(("messages", message("m-1", "delivered")))
    side.drain()
    caught_up(side, Platform({"m-1": {"id": "m-1", "status": "sent"}}))

    assert side.rows("select status from raw.messages") == [("delivered",)]


def test_outreach_that_ended_before_a_sync_has_seen_it_is_got_by_id(side: Side) -> None:
    side.receive(("ai_outbound", outreach("r-1")), ("ai_outbound", outreach("r-2")))
    side.drain()
    platform = Platform({"r-1": {"id": "r-1", "status": "completed", "outcome": "booked"}})

    assert outreach_caught_up(side, platform).requested == 2

    assert side.rows("select id, outcome from raw.ai_outbound_requests") == [("r-1", "booked")]
    assert outreach_caught_up(side, platform) == Caught()
