"""An incremental build leaves the same marts, row by row, as a build in full."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from support.changing_practice import PRACTICES, ChangingPractice
from support.mart_builds import (
    at_work,
    build_models,
    build_until_killed,
    built_in_full,
    committing,
    differences,
    was_full,
)
from support.raw_tables import every_list_read
from support.warehouse_with_rows import Filled
from vetl.core.list_read import Practice

SEED = 20260301
CHANGES, FEW = 60, 6
HARBOR, *OTHERS = PRACTICES


class Story:
    """A warehouse with alternating syncs and builds."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._random = Random(SEED)
        self._worlds: list[ChangingPractice] = []
        self.now = datetime(2025, 5, 14, tzinfo=UTC)

    def sync(self, changes: Sequence[int], practices: Sequence[Practice] = PRACTICES) -> list[str]:
        """Make so many changes at the practices and return them. "Now" is the source's clock afterwards."""
        filled = Filled(self.path)
        filled.warehouse.set_practices(practices)
        filled.now = self.now
        self._worlds = self._worlds or [ChangingPractice(filled, practice, self._random) for practice in PRACTICES]
        for world, times in zip(self._worlds, changes, strict=True):
            world.filled = filled
            world.done.clear()
            world.change(times)
        self.now = filled.now
        run = f"run-{self.now:%Y%m%dT%H%M%S}"
        filled.warehouse.start_run(run, self.now, "sync")
        filled.warehouse.finish_run(run, source_clock=self.now, exit_code=0, summary=every_list_read(practices))
        filled.warehouse.note_phone_numbers({})
        filled.warehouse.close()
        return [step for world in self._worlds for step in world.done]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Story:
    story = Story(tmp_path_factory.mktemp("built") / "vetl.duckdb")
    story.sync([60] * len(PRACTICES))
    build_models(story.path)
    assert was_full(story.path)
    return story


@dataclass(frozen=True)
class Changed:
    """A warehouse with many changes: before a build, after an incremental build, and after a build in full."""

    before: Path
    after: Path
    full: Path
    happened: list[str]


@pytest.fixture(scope="module")
def changed(built: Story, tmp_path_factory: pytest.TempPathFactory) -> Changed:
    kept = tmp_path_factory.mktemp("changed")
    built.now += timedelta(days=10)
    happened = built.sync((CHANGES, FEW, CHANGES), [replace(HARBOR, time_zone="America/Chicago"), *OTHERS])
    before = Path(shutil.copy(built.path, kept / "before.duckdb"))
    build_models(built.path)
    assert not was_full(built.path)
    after = Path(shutil.copy(built.path, kept / "after.duckdb"))
    return Changed(before, after, built_in_full(built.path), happened)


def test_an_incremental_build_equals_a_full_one(changed: Changed) -> None:
    """New rows, late changes, deletions, emptied days, ids and outcomes learnt later, in any order.

    One practice moves to another zone: that moves the days of everything but the calls, whose days the source
    gives. Another changes little, so most of its rows must stay. Ten days pass: untouched episodes are lost, or
    grow too old for a call.
    """
    assert differences(changed.after, changed.full) == {}, (SEED, changed.happened)


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
