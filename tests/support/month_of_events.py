"""The events of thirty days on a platform: random events, and events that random choice does not make."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import vetl_sandbox
from support.acting_month import act, acting, call_back_list_of, work
from support.dbt_build import BOOKING_STAGES
from support.mart_builds import build_marts_untested
from support.run_once import shared_result
from support.story import MOVING, START, Chapter, Follower, following
from vetl.cli.demo import receiver
from vetl.cli.sandbox import Platform
from vetl.jobs.build import building
from vetl.jobs.dbt_process import last_of

DAY = timedelta(days=1)
YESTERDAY, TODAY = ((START + by).isoformat() for by in (-DAY, 0 * DAY))
"""Calls between these days were read before any report on their day."""
NUMBERS = (0, 1, 2, 4, 6, 12, 13)
"""Last digits of the texted numbers: opted out, blocked, undelivered, in a fallback, unread, read."""

NAMELESS = dict.fromkeys(("referral_source", "appointment_id"), "")
STRANGE: dict[str, list[dict[str, Any]]] = {
    "phone_calls": [
        {"direction": "sideways", "state": "teleported", "caller_type": "vip", "customer_sentiment": "wistful"},
        {"direction": "inbound", "state": "completed", "call_classification": "", "outcome": "quantum"},
        {"direction": "inbound", "state": "completed", "caller_type": "", "booking_intent": True},
        {"phone_number": "+1 (999) 555-0199", "booking_intent": True, "outcome": "", "booked": True},
    ],
    "booking_sessions": [
        {"status": "paused", "stage": "started", "remote_appointment_id": "A-unknown", "client_type": "alumni"},
        {"status": "completed", "stage": "", "client_type": "", "referral_source": " ", "referral_campaign": ""},
        {"status": "completed", **dict.fromkeys(("stage", "last_activity_at")), **NAMELESS},
    ],
    "appointments": [{"status": "WAITLISTED", "client_type": "alumni", "remote_id": "", "remote_client_id": ""}],
    "ai_outbound": [
        {"status": "completed", "outcome": "rescheduled", "purpose": "recall", "channel": "fax"},
        {"status": "failed", "outcome": "no_response", "purpose": "", "channel": "sms"},
        {"status": "suppressed", "suppression_reason": "full_moon", "purpose": "scheduling", "channel": "sms"},
        {"status": "suppressed", "suppression_reason": "", "purpose": "scheduling", "channel": ""},
    ],
    "staff_tasks": [
        {"status": "pending", "task_type": "estimate", "client_id": ""},
        {"status": "pending", "task_type": "", "title": ""},
    ],
}
"""Values that the contract does not list, and empty values."""
PLAIN: dict[str, dict[str, Any]] = {"phone_calls": {"booked": False, "booking_intent": False}}
"""The CSV shows yes or no, and nothing between."""
SEED = int(os.environ.get("VETL_TRUTH_SEED", "29"))
GROUPS = {
    "loc-001": "Atlantic",
    "loc-002": "West",
    "loc-003": "Ports",
    "loc-004": "Atlantic",
    "loc-008": "Ports",
    "quiet": "Andes",
}
PRACTICES = (*GROUPS, "loc-005")
"""New York, London, Sydney, Phoenix, St John's, one that cannot be read, and Los Angeles, without a group."""
KNOWN = tuple(name for name in PRACTICES if name.startswith("loc-"))


def month_once() -> tuple[Chapter, Path]:
    """Return the story's end, and its warehouse, which no test may change."""
    return shared_result(f"month-{SEED}", _kept)


def _kept(folder: Path) -> tuple[Chapter, Path]:
    return play_month(folder), folder / "vetl.duckdb"


def play_month(folder: Path) -> Chapter:
    """Return the story's end: thirty days after a first build, when the list of appointments was withdrawn."""
    with (
        following(folder, seed=SEED, practices=PRACTICES, groups=GROUPS) as follower,
        receiving(folder, follower.platform) as address,
    ):
        _set_out(follower)
        _take_their_time(follower)
        follower.visit()
        assert build_marts_untested(follower.settings).exit_code == 0
        follower.settings = follower.settings.model_copy(update={"act": acting(folder, KNOWN)})
        clients = call_back_list_of(follower)
        follower.acts = act(follower)
        follower.platform.set(webhooks_to=f"{address}/webhooks")
        follower.platform.advance(timedelta(minutes=7))
        follower.visit(endpoints=MOVING)
        a_month(follower, clients)
        follower.visit(endpoints=("appointments",), reconcile="full")
        follower.platform.set(appointments_withdrawn=410)
        follower.unreachable = frozenset((practice, "appointments") for practice in KNOWN)
        follower.platform.advance(timedelta(minutes=7))
        follower.visit(reconcile="full")
        return follower.chapter(lambda settings: last_of(building(settings)))


@contextmanager
def receiving(folder: Path, platform: vetl_sandbox.Handle) -> Generator[str]:
    """Run vetl's receiver as a process and return its address; its inbox is in the folder, as by default."""
    described = Platform(
        base_url=platform.base_url,
        username=platform.username,
        password=platform.password,
        role=platform.role,
        webhook_secret=platform.webhook_secret,
        practices=tuple(platform.describe()["practices"]),
        clock=platform.now(),
    )
    (folder / "vetl.toml").touch()  # the receiver refuses a folder without settings
    with receiver(folder, described) as address:
        yield address


def a_month(follower: Follower, clients: dict[tuple[str, str], str | None]) -> None:
    """Let thirty days pass, with a visit now and then; people, who are read one by one, only at the end."""
    random, platform = Random(SEED), follower.platform
    for practice in KNOWN:
        _text(follower, practice)
    platform.advance(DAY)
    _reopen(follower, random)
    work(follower, follower.acts, clients)
    follower.visit(endpoints=MOVING)
    assert build_marts_untested(follower.settings).exit_code == 0
    follower.list_next_day = set(call_back_list_of(follower))
    platform.advance(3 * DAY)
    platform.set(webhooks_to=None)
    platform.advance(10 * DAY)
    for practice in KNOWN:
        for name, records in STRANGE.items():
            for record in records:
                platform.insert(practice, name, PLAIN.get(name, {}) | record)
    follower.visit(endpoints=MOVING)
    platform.advance(timedelta(days=30) - 14 * DAY - timedelta(minutes=7))
    _change_behind_the_back(follower, random)


def _text(follower: Follower, practice: str) -> None:
    """Text a client; at night the platform refuses (contract: Sending hours)."""
    zone = next(one.zone for one in follower.platform.practices if one.id == practice)
    if 8 <= follower.platform.now().astimezone(zone).hour < 20:
        for number in NUMBERS:
            follower.text(practice, number)


def _set_out(follower: Follower) -> None:
    """Begin a session at each stage, and one at a stage without a place."""
    for practice in KNOWN:
        for stage in (*BOOKING_STAGES, "waiting_room"):
            record = {"stage": stage, "referral_source": "walk", "client_type": "existing"}
            follower.platform.insert(practice, "booking_sessions", record)


def _take_their_time(follower: Follower) -> None:
    """Give one practice few slow sessions and the next many quick ones: no group equals the mean of both."""
    platform = follower.platform
    now = platform.now()
    done: dict[str, dict[str, Any]] = {
        "booking_sessions": {"referral_source": "patience", "last_activity_at": now},
        "ai_outbound": {"purpose": "general", "channel": "sms", "contacted_at": now, "completed_at": now},
        "staff_tasks": {"task_type": "task", "finalized_at": now},
    }
    for place, practice in enumerate(KNOWN):
        for number in range(1 + 2 * place):
            began = {"status": "completed", "created_at": now - timedelta(minutes=60 - 8 * place + number)}
            for name, record in done.items():
                platform.insert(practice, name, {**record, **began})


def _reopen(follower: Follower, random: Random) -> None:
    platform = follower.platform
    for practice in KNOWN:
        final = [row["id"] for row in platform.truth(practice, "staff_tasks") if row["finalized_at"]]
        for identity in random.sample(final, 3):
            again = {"status": "pending", "finalized_at": None, "updated_at": platform.now()}
            platform.update(practice, "staff_tasks", identity, again)


def _change_behind_the_back(follower: Follower, random: Random) -> None:
    """Make changes without a trace: rows vanish, and old calls and sessions change."""
    platform = follower.platform
    for practice in KNOWN:
        _take_away(follower, practice, random)
        for row in random.sample(platform.truth(practice, "phone_calls"), 8):
            changes = {"booked": not row["booked"], "booking_intent": True, "outcome": "appointment_booked"}
            platform.update(practice, "phone_calls", row["id"], changes)
        for row in random.sample(platform.truth(practice, "booking_sessions"), 3):
            platform.update(practice, "booking_sessions", row["id"], {"referral_source": "told later"})


def _take_away(follower: Follower, practice: str, random: Random) -> None:
    """Delete some rows of each list, among them a call and a session that a report on their day had counted."""
    platform = follower.platform
    for name in MOVING:
        for row in random.sample(platform.truth(practice, name), 3):
            platform.delete(practice, name, row["id"])
    calls, sessions = (platform.truth(practice, name) for name in ("phone_calls", "booking_sessions"))
    for row in [row for row in calls if YESTERDAY <= row["created_at"] < TODAY][:1]:
        platform.delete(practice, "phone_calls", row["id"])
    for row in [row for row in sessions if row["referral_source"] == "walk"][:1]:
        platform.delete(practice, "booking_sessions", row["id"])
