"""Acting under kills and lost answers: 60 booking requests and 8 kills. `make chaos` has 1,000 and 50."""

import os
from pathlib import Path

import pytest
from support.act_world import DAYS, act_world
from support.killed_appliers import tell_story

import sandbox

WHOLE = "VETL_CHAOS_SEEDS" in os.environ
STORIES = [(1000, 50, seed) for seed in range(2)] if WHOLE else [(60, 8, 1)]


@pytest.mark.parametrize(("requests", "kills", "seed"), STORIES)
def test_each_request_becomes_one_task_whatever_is_killed_or_lost(
    tmp_path: Path, requests: int, kills: int, seed: int
) -> None:
    with sandbox.running(practices=1, days=DAYS, calls=30, seed=5, frozen=True) as platform:
        world = act_world(platform, tmp_path)
        world.sync()

        tell_story(world, tmp_path, requests=requests, kills=kills, seed=seed)
