"""Acting under kills and lost answers: 60 booking requests and 8 kills. `make chaos` has 1,000 and 50.

Two appliers of one plan run at once, each in a process of its own, and both are killed in the middle.
"""

import os
import time
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
import vetl_sandbox
from support.act_world import DAYS, ActWorld, act_world, unbooked
from support.forked import start
from support.processes import PATIENCE
from support.sandbox_settings import changed
from vetl.addons.act.job import apply_acts, plan_acts
from vetl.addons.act.sending import ApplyResult
from vetl.core.errors import VetlError
from vetl.settings import Settings

LATER = timedelta(minutes=16)
LOST = vetl_sandbox.Fault("closed", path="POST */staff_tasks", share=0.2, in_a_row=None)
"""The answer is lost after the task was made."""
ROUNDS = 10
"""Applies that are left alone in the end. Several may be needed, because answers go on being lost."""


def apply_and_exit(settings: Settings, digest: str, ended: Path) -> None:
    """Apply a plan. The exit code is written into a file, because a killed process leaves none."""
    try:
        code = apply_acts(settings, digest).exit_code
    except VetlError as error:
        code = error.exit_code
    ended.write_text(str(code), "utf-8")


def tell_story(world: ActWorld, folder: Path, *, requests: int, kills: int, seed: int) -> None:
    """Apply a plan for so many requests with so many kills; at rest each has one task, and none has two."""
    rng = Random(seed)
    settings = changed(world.settings, warehouse={"lock_wait_seconds": 600})
    world.build(unbooked(requests))
    plan = plan_acts(settings, None)
    wanted = {act.code for act in plan.acts}
    assert len(wanted) == requests
    world.platform.faults.set([LOST], seed=seed)
    each = 3 * requests // kills

    killed = 0
    while killed < kills:
        killed += _kill_some(world, settings, plan.digest, folder, rng.randint(0, each), rng.uniform(0, 0.03))
        assert len(world.codes()) == len(set(world.codes())), f"a booking request has two tasks; seed {seed}"
        if rng.random() < 0.7:
            world.platform.advance(LATER)
    results: list[ApplyResult] = []
    while len(results) < ROUNDS and not (results and results[-1].exit_code == 0 and not results[-1].held_back):
        world.platform.advance(LATER)
        results.append(apply_acts(settings, plan.digest))

    assert results[-1].exit_code == 0, (seed, results)
    codes = world.codes()
    assert sorted(codes) == sorted(wanted), f"{len(codes)} tasks for {len(wanted)} booking requests; seed {seed}"


def _kill_some(
    world: ActWorld, settings: Settings, digest: str, folder: Path, requests: int, seconds: float
) -> int:
    """Start two appliers, and kill both after so many requests for a task. Return how many were at work."""
    endings = [folder / "first", folder / "second"]
    for ended in endings:
        ended.unlink(missing_ok=True)
    begun = world.posts()
    appliers = [start(apply_and_exit, settings, digest, ended) for ended in endings]
    deadline = time.monotonic() + PATIENCE
    while (
        any(applier.is_alive() for applier in appliers)
        and world.posts() - begun < requests
        and time.monotonic() < deadline
    ):
        appliers[0].join(0.005)
    appliers[0].join(seconds)
    for applier in appliers:
        applier.kill()
        applier.join()
    return sum(not ended.exists() for ended in endings)


WHOLE = "VETL_CHAOS_SEEDS" in os.environ
STORIES = [(1000, 50, seed) for seed in range(2)] if WHOLE else [(60, 8, 1)]


@pytest.mark.parametrize(("requests", "kills", "seed"), STORIES)
def test_each_request_becomes_one_task_whatever_is_killed_or_lost(
    tmp_path: Path, requests: int, kills: int, seed: int
) -> None:
    with vetl_sandbox.running(practices=1, days=DAYS, calls=30, seed=5, frozen=True) as platform:
        world = act_world(platform, tmp_path)
        world.sync()

        tell_story(world, tmp_path, requests=requests, kills=kills, seed=seed)
