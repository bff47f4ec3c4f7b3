"""An incremental build leaves the same marts, row by row, as a build in full."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import duckdb
import pytest
from support.changing_practice import PRACTICES, ChangingPractice
from support.mart_builds import (
    at_work,
    build_models,
    build_until_killed,
    built_in_full,
    committing,
    differences,
    passes,
    was_completed,
    was_full,
)
from support.raw_tables import every_list_read
from support.warehouse_with_rows import Filled, ask
from vetl.core.practice import Practice
from vetl.jobs.build import dbt_variables
from vetl.jobs.dbt_process import CHANGED_ONLY, fingerprint
from vetl.settings import Settings

SEED = 20260301
CHANGES, FEW = 60, 6
HARBOR, *OTHERS = PRACTICES
PATIENTS = "patients_holds"


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
    """Builds are killed at the calls of changed days, at the callers, and between timeline and episodes."""
    shutil.copy(changed.before, built.path)
    build_until_killed(built.path, "phone_calls", committing)
    build_until_killed(built.path, "int_calls_identified", committing)
    build_until_killed(built.path, "int_demand_episode_facts", at_work)
    assert not was_completed(built.path)

    assert passes(built.path, PATIENTS)
    assert was_completed(built.path)
    assert not was_full(built.path)
    assert differences(built.path, changed.full) == {}


def test_a_build_with_a_failed_test_is_not_done(built: Story, changed: Changed) -> None:
    """Nothing is built after `patients`: that all models were built says nothing about its test."""
    with duckdb.connect(built.path) as connection:
        for _ in range(2):
            connection.execute("insert into raw.patients (practice_id, id) values ('loc-1', 'rex')")
    assert not passes(built.path, PATIENTS)
    assert not was_completed(built.path)
    shutil.copy(changed.after, built.path)


def test_a_build_without_views_is_done_only_after_a_whole_one(built: Story, changed: Changed) -> None:
    shutil.copy(changed.before, built.path)
    build_models(built.path, *CHANGED_ONLY)
    assert was_completed(built.path)
    assert differences(built.path, changed.full) == {}

    begin(built)
    build_models(built.path, *CHANGED_ONLY)
    assert not was_completed(built.path)
    shutil.copy(changed.after, built.path)


def test_notes_of_a_mart_that_takes_in_no_changes_go(built: Story, changed: Changed) -> None:
    """An earlier version left them; publishing would take them for changes of this build."""
    with duckdb.connect(built.path) as connection:
        connection.execute("create table control.changed_in_leaks as select *, 1 as weight from marts.leaks")
    begin(built)
    assert ask(built.path, "from duckdb_tables() where table_name like 'changed_in_%'") == []
    shutil.copy(changed.after, built.path)


def begin(story: Story, *options: str, **variables: str) -> None:
    """Begin a build; one small model shows its kind."""
    build_models(story.path, "--select", "int_source_clock", *options, project=None, **variables)


CALLS = "from duckdb_tables() where table_name = 'phone_calls' and schema_name = 'marts'"
"""A build in full begins by dropping the table of calls."""
DOUBTS: dict[str, tuple[bool, Callable[[Story], None]]] = {
    "nothing": (False, begin),
    "a sync": (False, lambda story: (story.sync([1] * len(PRACTICES)), begin(story))[1]),
    "asked for": (True, lambda story: begin(story, "--full-refresh")),
    "another text": (True, lambda story: begin(story, VETL_BUILD_FINGERPRINT="another")),
    "a text unknown": (True, lambda story: begin(story, VETL_BUILD_FINGERPRINT="")),
    "a build that left models out": (
        False,
        lambda story: (build_models(story.path, "--select", "phone_calls"), begin(story))[1],
    ),
}
"""The state since the last build, and whether the next build makes the calls again."""


def test_a_build_notes_the_text_and_the_variables_that_it_compares(built: Story) -> None:
    noted = ask(built.path, "select fingerprint from control.builds")

    assert noted == [(fingerprint(dbt_variables(Settings.model_construct())),)]


def test_calls_are_rebuilt_if_in_doubt(built: Story, tmp_path: Path) -> None:
    before, remade = tmp_path / "before.duckdb", {}
    shutil.copy(built.path, before)
    for name, (_, happen) in DOUBTS.items():
        story = Story(built.path)  # under the same name: dbt parses again for another name
        story.now = built.now
        happen(story)
        remade[name] = not ask(story.path, CALLS)
        shutil.copy(before, story.path)

    assert {name: anew for name, (anew, _) in DOUBTS.items()} == remade
