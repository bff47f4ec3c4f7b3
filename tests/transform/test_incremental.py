"""A build that takes in what changed leaves the same marts, row by row, as one that begins anew."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random

import pytest
from support.changing_practice import PRACTICES, ChangingPractice
from support.filled import Filled
from support.mart_builds import build_models, differences_from_full_build, was_full

from pipelines.practice import Practice

SEED = 20260301
HARBOR, BAYSIDE = PRACTICES


class Story:
    """A warehouse that syncs and builds take turns with."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._random = Random(SEED)
        self._worlds: list[ChangingPractice] = []
        self.now = datetime(2025, 6, 1, tzinfo=UTC)

    def sync(self, changes: int, practices: Sequence[Practice] = PRACTICES) -> list[str]:
        """So many changes at each practice; returns them. "Now" of the marts is the source's clock afterwards."""
        filled = Filled(self.path)
        filled.warehouse.set_practices(practices)
        filled.now = self.now
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

    def build(self, *options: str, **variables: str) -> None:
        done = build_models(self.path, *options, **variables)
        assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Story:
    story = Story(tmp_path_factory.mktemp("built") / "vetl.duckdb")
    story.sync(200)
    story.build()
    assert was_full(story.path)
    return story


def test_an_incremental_build_equals_a_full_one(built: Story) -> None:
    """New rows, late changes, deletions, emptied days, ids and outcomes learnt later, in any order."""
    for changes in (6, 60):
        happened = built.sync(changes)
        built.build()

        assert not was_full(built.path)
        assert differences_from_full_build(built.path) == {}, (SEED, happened)


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
