"""Requests of a practice that has opted in get a message, once, and opted-out clients get none."""

from datetime import timedelta
from typing import Any

import pytest
from support.act_world import PRACTICE, ActWorld, Unbooked
from vetl.addons.act.job import apply_acts, plan_acts
from vetl.addons.act.ledger import act_status
from vetl.addons.act.settings import ActSettings
from vetl.settings import Settings
from vetl_sandbox import Fault

MESSAGES = "POST */messages"
OPTED_OUT, ARRIVES = "+12125550100", "+12125550112"
"""The last digits of a number decide what becomes of a message to it."""


@pytest.fixture
def settings(world: ActWorld) -> Settings:
    """Provide the settings of a practice that texts, at two o'clock in the afternoon of its clock."""
    zone = world.platform.practices[0].zone
    world.platform.advance(timedelta(hours=(14 - world.platform.now().astimezone(zone).hour) % 24))
    world.sync()
    return world.act(text_practices=(PRACTICE,))


def texts(world: ActWorld) -> list[Any]:
    known = world.platform.platform.desk.messages._known.items()  # pyright: ignore[reportPrivateUsage]
    messages = {id(message): message for (practice, _), message in known if practice == PRACTICE}
    return [one for one in messages.values() if one.record["sent_at"]]


def asked(world: ActWorld) -> int:
    return sum(seen.method == "POST" and seen.path.endswith("/messages") for seen in world.platform.requests.log)


def wanted(count: int, number: str = ARRIVES) -> list[Unbooked]:
    return [Unbooked(place, phone_number=number[:-2] + f"{12 + place:02}") for place in range(count)]


def test_each_request_gets_one_message_and_no_task(world: ActWorld, settings: Settings) -> None:
    world.build([*wanted(3), Unbooked(7, phone_number="(212) 555-0112")])
    plan = plan_acts(settings, None)

    result = apply_acts(settings, plan.digest)

    assert [held.reason for held in plan.held_back] == ["unreachable"]
    assert (result.sent, result.adopted, result.exit_code) == (3, 0, 0)
    assert apply_acts(settings, plan_acts(settings, None).digest).sent == 0
    assert (len(texts(world)), world.codes()) == (3, [])


@pytest.mark.parametrize(
    "fault",
    [Fault(kind, path=MESSAGES, in_a_row=None) for kind in ("closed", "failed_late", "status")],
    ids=lambda fault: fault.kind,
)
def test_a_message_whose_answer_is_lost_is_found_by_its_reference_or_sent_again(
    fault: Fault, world: ActWorld, settings: Settings
) -> None:
    world.build(wanted(1))
    digest = plan_acts(settings, None).digest
    world.platform.faults.set([fault])
    first = apply_acts(settings, digest)
    world.platform.faults.set([])

    second = apply_acts(settings, digest)

    assert (first.unknown, first.exit_code) == (1, 3)
    assert (second.sent + second.adopted, second.unknown, second.exit_code) == (1, 0, 0)
    assert len(texts(world)) == 1
    assert {entry.state for entry in act_status(settings).entries} == {"made"}


def test_an_opted_out_client_is_not_texted(world: ActWorld, settings: Settings) -> None:
    world.build([Unbooked(0, phone_number=OPTED_OUT)])

    result = world.plan_and_apply(settings)

    assert (result.sent, [held.reason for held in result.held_back], result.exit_code) == (0, ["suppressed"], 0)
    assert act_status(settings).entries[0].note == "not sent: opted_out"
    assert [held.reason for held in plan_acts(settings, None).held_back] == ["refused"]


def test_a_lost_ledger_texts_nobody_twice_although_two_requests_are_one_now(
    world: ActWorld, settings: Settings
) -> None:
    world.build(wanted(1))
    world.plan_and_apply(settings)
    ActSettings.of(settings).ledger.unlink()
    (ActSettings.of(settings).ledger.parent / "acts.sqlite-wal").unlink(missing_ok=True)
    world.build([Unbooked(5, contacts=(0, 5), phone_number=ARRIVES)])

    result = world.plan_and_apply(settings)

    assert (result.sent, result.adopted) == (0, 1)
    assert len(texts(world)) == 1


def test_nobody_is_texted_at_night(world: ActWorld, settings: Settings) -> None:
    world.platform.advance(timedelta(hours=9))
    world.sync()
    world.build(wanted(2))
    before = asked(world)

    result = world.plan_and_apply(settings)

    assert {held.reason for held in result.held_back} == {"quiet_hours"}
    assert asked(world) == before
