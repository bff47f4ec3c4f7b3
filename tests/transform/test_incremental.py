"""An incremental build leaves the same marts, row by row, as a build in full."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

import pytest
import vetl_sandbox
from support.lists import PAGED
from support.mart_builds import (
    at_work,
    build_models,
    build_until_killed,
    built_in_full,
    committing,
    differences,
    was_full,
)
from support.sandbox_settings import settings_for, synced
from vetl.endpoints import REGISTRY
from vetl.settings import Settings
from vetl.store.warehouse import Warehouse

SEED = 20260301
DAYS = 30
MANY, FEW = 6, 1
"""Rows of each list that change, at a practice."""


@dataclass
class Story:
    """A platform, and a warehouse with alternating syncs and builds."""

    platform: vetl_sandbox.Handle
    settings: Settings
    random: Random

    @property
    def path(self) -> Path:
        return self.settings.warehouse.path

    def change(self, practice: str, times: int) -> None:
        """Let rows come late, change and vanish without a trace, a day lose its calls, and a client a number."""
        platform, random = self.platform, self.random
        for name in PAGED:
            now = platform.now()
            for gone in random.sample(platform.truth(practice, name), times):
                platform.delete(practice, name, gone["id"])
            for row in random.sample(platform.truth(practice, name), times):
                created = datetime.fromisoformat(row["created_at"]) - timedelta(hours=random.randrange(60))
                platform.insert(practice, name, {"created_at": created, "updated_at": now})
                platform.update(practice, name, row["id"], CHANGES[name] | {"updated_at": now})
        callers = [call for call in platform.truth(practice, "phone_calls") if call["client_id"]]
        for caller, stranger in zip(random.sample(callers, times), random.sample(callers, times), strict=True):
            number = {"phone": stranger["phone_number"], "remote_id": "R-shared"}
            platform.update(practice, "clients", caller["client_id"], number)
        if times > 1:
            calls = platform.truth(practice, "phone_calls")
            day = random.choice(calls)["created_at"][:10]
            for call in [call for call in calls if call["created_at"].startswith(day)]:
                platform.delete(practice, "phone_calls", call["id"])


CHANGES = {
    "phone_calls": {"booked": True, "booking_intent": True, "outcome": "appointment_booked"},
    "booking_sessions": {"status": "abandoned", "referral_source": "told later"},
    "appointments": {"status": "MOVED", "client_phone": "+12125550100", "remote_id": "A-shared"},
    "ai_outbound": {"status": "completed", "outcome": "booked"},
    "staff_tasks": {"status": "pending", "finalized_at": None},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with vetl_sandbox.running(practices=3, calls=240, days=DAYS, seed=5, frozen=True) as platform:
        settings = settings_for(platform, tmp_path_factory.mktemp("built"), DAYS)
        synced(settings)
        build_models(settings.warehouse.path)
        assert was_full(settings.warehouse.path)
        yield Story(platform, settings, Random(SEED))


@dataclass(frozen=True)
class Changed:
    """A warehouse with many changes: before a build, after an incremental build, and after a build in full."""

    before: Path
    after: Path
    full: Path


@pytest.fixture(scope="module")
def changed(built: Story, tmp_path_factory: pytest.TempPathFactory) -> Changed:
    kept = tmp_path_factory.mktemp("changed")
    built.platform.advance(timedelta(days=10))
    moved, *others = built.settings.practices
    for practice, times in zip(built.settings.practices, (MANY, FEW, MANY), strict=True):
        built.change(practice.id, times)
    synced(built.settings, reconcile="full")
    with closing(Warehouse.open(built.path, REGISTRY, lock_wait_seconds=0)) as warehouse:
        warehouse.set_practices([replace(moved, time_zone="America/Chicago"), *others])
    before = Path(shutil.copy(built.path, kept / "before.duckdb"))
    build_models(built.path)
    assert not was_full(built.path)
    after = Path(shutil.copy(built.path, kept / "after.duckdb"))
    return Changed(before, after, built_in_full(built.path))


def test_an_incremental_build_equals_a_full_one(changed: Changed) -> None:
    """New rows, late changes, deletions, an emptied day, clients whose number and remote id are those of others.

    One practice moves to another zone: that moves the days of everything but the calls, whose days the source
    gives. Another changes little, so most of its rows must stay. Ten days pass: untouched episodes are lost, or
    grow too old for a call.
    """
    assert differences(changed.after, changed.full) == {}, SEED


def test_a_build_after_killed_ones_equals_a_full_one(built: Story, changed: Changed) -> None:
    """Builds are killed while the calls of changed days are stored, and between timeline and episodes."""
    shutil.copy(changed.before, built.path)
    build_until_killed(built.path, "int_calls_by_day", committing)
    build_until_killed(built.path, "int_booking_requests", at_work)

    build_models(built.path)
    assert not was_full(built.path)
    assert differences(built.path, changed.full) == {}


def test_a_build_of_what_changed_equals_a_full_one(built: Story, changed: Changed) -> None:
    """Models that no changed row reaches are left as they are, and so are views."""
    shutil.copy(changed.before, built.path)
    build_models(built.path, changed_only=True)

    assert differences(built.path, changed.full) == {}
    shutil.copy(changed.after, built.path)
