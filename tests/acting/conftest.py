"""A platform that the tests of acting share, at rest before each."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.act_world import DAYS, ActWorld, act_world

import sandbox


@pytest.fixture(scope="session")
def act_platform() -> Iterator[sandbox.Handle]:
    with sandbox.running(practices=2, days=DAYS, calls=30, seed=5, frozen=True) as handle:
        yield handle


@pytest.fixture
def world(act_platform: sandbox.Handle, tmp_path: Path) -> ActWorld:
    act_platform.reset()
    return act_world(act_platform, tmp_path)
