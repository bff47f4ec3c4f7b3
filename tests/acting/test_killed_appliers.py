"""Exactly once, although appliers are killed and answers are lost. `make chaos` does it with 1,000 leaks."""

from pathlib import Path

from support.act_world import ActWorld
from support.killed_appliers import tell_story


def test_sixty_requests_become_sixty_tasks_although_appliers_are_killed_and_answers_lost(
    world: ActWorld, tmp_path: Path
) -> None:
    tell_story(world, tmp_path, requests=60, kills=8, seed=1)
