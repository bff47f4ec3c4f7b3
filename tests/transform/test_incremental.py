"""An incremental build leaves the same marts, row by row, as a build in full."""

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
import yaml
from support.changing_practice import PRACTICES, ChangingPractice
from support.dbt_build import VARIABLES, run
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
from support.warehouse_with_rows import Filled, ask
from support.warm_dbt import dbt
from vetl.bundled import dbt_project
from vetl.core.practice import Practice
from vetl.jobs.dbt_process import environment

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
    build_until_killed(built.path, "int_demand_episode_facts", at_work)

    build_models(built.path)
    assert not was_full(built.path)
    assert differences(built.path, changed.full) == {}


def test_a_build_of_what_changed_equals_a_full_one(built: Story, changed: Changed) -> None:
    """Models that no changed row reaches are left as they are, and so are views."""
    shutil.copy(changed.before, built.path)
    build_models(built.path, changed_only=True)

    assert differences(built.path, changed.full) == {}
    shutil.copy(changed.after, built.path)


def test_running_any_one_model_changes_no_other_table(changed: Changed, built: Story) -> None:
    """Nor does it take the changes from the next build, whatever text and variables it was run with."""
    shutil.copy(changed.before, built.path)
    made = {
        "booking_intent_daily": "marts.booking_intent_daily",
        "int_calls_by_day": "intermediate.int_calls_by_day",
        "int_demand_timeline": "intermediate.int_demand_timeline",
    }
    for model, table in made.items():
        before = contents(built.path)
        done = run(built.path, built.path.parent, "run", "--select", model, "--vars", "{episode_days: 3}")
        assert done.exit_code == 0, done.output
        after = contents(built.path)
        assert {name for name in before if before[name] != after.get(name)} <= {table}
        assert before.keys() == after.keys()


def test_a_target_of_ones_own_writes_to_its_own_schemas(changed: Changed, built: Story, tmp_path: Path) -> None:
    shutil.copy(changed.after, built.path)
    before = contents(built.path)
    anna = {**yaml.safe_load((dbt_project() / "profiles.yml").read_text("utf-8"))["vetl"]["outputs"]["duckdb"]}
    profile = {"vetl": {"target": "anna", "outputs": {"anna": {**anna, "schema": "dbt_anna"}}}}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump(profile), "utf-8")
    done = dbt(
        *("run", "--select", "+booking_intent_daily", *VARIABLES),
        *("--project-dir", str(dbt_project()), "--profiles-dir", str(tmp_path), "--target-path", str(tmp_path)),
        *("--log-path", str(tmp_path)),
        folder=tmp_path,
        environment={**os.environ, **environment(built.path)},
    )
    assert done.exit_code == 0, done.output
    after = contents(built.path)
    assert {name: after[name] for name in before} == before
    assert ask(built.path, "from dbt_anna_marts.booking_intent_daily order by all") == ask(
        built.path, "from marts.booking_intent_daily order by all"
    )


def contents(warehouse: Path) -> dict[str, object]:
    """Return a digest of each table by its name."""
    tables = ask(warehouse, "select schema_name || '.' || table_name from duckdb_tables()")
    return {name: ask(warehouse, f"select count(*), sum(hash(t)) from {name} as t") for (name,) in tables}
