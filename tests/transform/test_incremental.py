"""A build that takes in what changed leaves the same marts, row by row, as one that begins anew."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest
from support import scenes
from support.changing_practice import PRACTICES, ChangingPractice
from support.filled import Filled
from support.killed_builds import at_work, build_until_killed, committing
from support.mart_builds import (
    BROKEN,
    DBT,
    WATCHED,
    build_models,
    built_in_full,
    differences,
    was_completed,
    was_full,
)
from support.scenes import Scene

from pipelines.bundled import dbt_project
from pipelines.loading.publish import Published, publish
from pipelines.loading.published_marts import Masking
from pipelines.loading.published_record import how_to_publish, last_build, read_record
from pipelines.marts import grains, pii_columns
from pipelines.practice import Practice

SEED = 20260301
CHANGES = 60
NEVER_NEEDED = {"part_2_of_service_reminders"}
"""It looks after groups of reminders whose webhooks vanish: none does, what was told is kept."""
HARBOR, BAYSIDE = PRACTICES
ALL = (*PRACTICES, scenes.STAGE)


class Story:
    """A warehouse that syncs and builds take turns with."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._random = Random(SEED)
        self._worlds: list[ChangingPractice] = []
        self.now = datetime(2025, 5, 14, tzinfo=UTC)

    def sync(self, changes: int, practices: Sequence[Practice] = ALL, *, scene: Scene | None = None) -> list[str]:
        """A scene, and so many changes at each practice; returns these. "Now" is the source's clock afterwards."""
        filled = Filled(self.path)
        filled.warehouse.set_practices(practices)
        filled.now = self.now
        if scene:
            scene(filled)
        self._worlds = self._worlds or [ChangingPractice(filled, practice, self._random) for practice in PRACTICES]
        for world in self._worlds:
            world.filled = filled
            world.done.clear()
            world.change(changes)
        self.now = filled.now
        run = f"run-{self.now:%Y%m%dT%H%M%S}"
        filled.warehouse.start_run(run, self.now, "sync")
        filled.warehouse.finish_run(run, source_clock=self.now, exit_code=0, summary={})
        filled.warehouse.close()
        return [step for world in self._worlds for step in world.done]

    def build(self, *options: str, program: Sequence[str] = DBT, **variables: str) -> None:
        done = build_models(self.path, *options, program=program, **variables)
        assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Story:
    story = Story(tmp_path_factory.mktemp("built") / "vetl.duckdb")
    story.sync(200, scene=scenes.before)
    story.build()
    assert was_full(story.path)
    return story


def test_an_incremental_build_equals_a_full_one(built: Story) -> None:
    """A few changes, of which most models see none."""
    happened = built.sync(6)
    built.build()

    assert not was_full(built.path)
    assert differences(built.path, built_in_full(built.path)) == {}, (SEED, happened)


@dataclass(frozen=True)
class Changed:
    """A warehouse with many changes: before a build, after one of what changed, and after one in full."""

    before: Path
    after: Path
    full: Path
    happened: list[str]


@pytest.fixture(scope="module")
def changed(built: Story, tmp_path_factory: pytest.TempPathFactory) -> Changed:
    kept = tmp_path_factory.mktemp("changed")
    happened = built.sync(CHANGES, scene=scenes.after)
    before = Path(shutil.copy(built.path, kept / "before.duckdb"))
    built.build(program=WATCHED)
    assert not was_full(built.path)
    after = Path(shutil.copy(built.path, kept / "after.duckdb"))
    return Changed(before, after, built_in_full(built.path), happened)


def test_after_many_changes_too(changed: Changed) -> None:
    """New rows, late changes, deletions, emptied days, ids and outcomes learnt later, in any order."""
    assert differences(changed.after, changed.full) == {}, (SEED, changed.happened)


def test_a_part_of_a_scope_that_was_forgotten_would_be_noticed(changed: Changed) -> None:
    """Each part alone brings rows that change: without it they would stay, and a full build has others."""
    parts = parts_of_scopes(changed)
    with duckdb.connect(changed.after, read_only=True) as connection:
        idle = [
            part
            for model, names in parts
            for part in names
            if not rows_of_part_alone(connection, model, part, names)
        ]

    assert parts
    assert set(idle) == NEVER_NEEDED


def test_what_a_build_changed_is_what_publishing_brings(changed: Changed, tmp_path: Path) -> None:
    """A file that shows the build before, changed as the marts were, is as one copied whole."""
    project = dbt_project()
    private, shown, whole = (tmp_path / name for name in ("vetl.duckdb", "shown.duckdb", "whole.duckdb"))

    def published(target: Path) -> Published:
        return publish(private, target, pii=pii_columns(project), pii_key="key", grains=grains(project))

    shutil.copy(changed.before, private)
    published(shown)
    shutil.copy(changed.after, private)
    with duckdb.connect() as connection:
        connection.execute(f"attach '{private}' as source (read_only)")
        build = last_build(connection)
    masking = Masking(pii_columns(project), "key")
    assert how_to_publish(read_record(private), build, masking, shown) == "changes"
    result = published(shown)
    shutil.copy(changed.full, private)

    assert published(whole).tables == result.tables
    assert differences(shown, whole) == {}


def parts_of_scopes(changed: Changed) -> list[tuple[str, list[str]]]:
    """The models that have a scope, and the tables of its parts."""
    with duckdb.connect(changed.after, read_only=True) as connection:
        return connection.execute(
            "select regexp_replace(table_name, '^part_[0-9]+_of_', ''), array_agg(table_name order by table_name)"
            " from duckdb_tables() where table_name like 'part_%' group by all"
        ).fetchall()


def rows_of_part_alone(
    connection: duckdb.DuckDBPyConnection, model: str, part: str, parts: Sequence[str]
) -> list[Any]:
    """The rows that a build wrote into a model or took out, and that no other part has in scope; one is enough."""
    scoped = connection.table(f"control.{part}").columns

    def within(name: str) -> str:
        pairs = " and ".join(f"scope.{column} is not distinct from written.{column}" for column in scoped)
        return f"exists (select 1 from control.{name} as scope where {pairs})"

    conditions = [within(part), *(f"not {within(name)}" for name in parts if name != part)]
    return connection.execute(
        f"select 1 from control.changed_in_{model} as written where {' and '.join(conditions)} limit 1"
    ).fetchall()


def test_a_scope_that_is_empty_is_noticed(built: Story, changed: Changed) -> None:
    """In every model that has one."""
    shutil.copy(changed.before, built.path)
    built.build(program=BROKEN)
    wrong = {name.split(".")[1] for name in differences(built.path, changed.full)}
    shutil.copy(changed.after, built.path)

    assert {model for model, _ in parts_of_scopes(changed)} <= wrong


def test_a_build_after_killed_ones_equals_a_full_one(built: Story, changed: Changed) -> None:
    """Killed at a model while it takes in what changed, and the next one while it commits another model."""
    shutil.copy(changed.before, built.path)
    build_until_killed(built.path, "int_demand_contacts", at_work)
    assert not was_full(built.path)
    build_until_killed(built.path, "booking_sessions", committing)
    assert was_full(built.path), "a build that was killed leaves doubts"
    assert not was_completed(built.path)
    built.build()

    assert was_completed(built.path)
    assert differences(built.path, changed.full) == {}
    shutil.copy(changed.after, built.path)


def ask(story: Story, *options: str, **variables: str) -> None:
    """Begin a build; one small model is enough to see how."""
    story.build("--select", "int_source_clock", *options, **variables)


def resettled(practice: Practice) -> Callable[[Story], None]:
    """A sync with other settings."""
    return lambda story: (story.sync(0, [practice]), ask(story))[1]


DOUBTS: dict[str, tuple[bool, Callable[[Story], None]]] = {
    "nothing": (False, ask),
    "a sync": (False, lambda story: (story.sync(1), ask(story))[1]),
    "asked for": (True, lambda story: ask(story, "--full-refresh")),
    "a short history": (True, lambda story: ask(story, DBT_IN_FULL_BELOW="500000")),
    "another text": (True, lambda story: ask(story, VETL_BUILD_FINGERPRINT="another")),
    "a text unknown": (True, lambda story: ask(story, VETL_BUILD_FINGERPRINT="")),
    "a build that left models out": (True, lambda story: (story.build("--select", "phone_calls"), ask(story))[1]),
    "a corrected zone": (True, resettled(replace(HARBOR, time_zone="America/Chicago"))),
    "a new name": (True, resettled(replace(HARBOR, name="Harbour"))),
    "a group removed": (True, resettled(replace(BAYSIDE, group=None))),
    "a new practice": (True, resettled(Practice("p9", "Hill", "UTC", date(2025, 1, 1)))),
    "other variables": (True, lambda story: ask(story, "--vars", "{opening_hour: 9}")),
}
"""What happened since the last build, and whether the next one begins anew."""


def test_a_build_begins_anew_where_in_doubt(built: Story, tmp_path: Path) -> None:
    before, told = tmp_path / "before.duckdb", {}
    shutil.copy(built.path, before)
    for name, (_, happen) in DOUBTS.items():
        story = Story(built.path)  # under the same name: dbt parses anew for another
        story.now = built.now
        happen(story)
        told[name] = was_full(story.path)
        shutil.copy(before, story.path)

    assert {name: anew for name, (anew, _) in DOUBTS.items()} == told
