"""A platform that the tests of acting share, at rest before each, and a warehouse that is synced with it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import vetl_sandbox
from support.act_world import DAYS, ActWorld, act_world, toml_of
from support.sandbox_settings import enter

Synced = tuple[vetl_sandbox.Handle, Path]


@pytest.fixture(scope="session")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Synced]:
    """Provide a platform, and a folder with a warehouse that is synced with it."""
    folder = tmp_path_factory.mktemp("synced")
    with vetl_sandbox.running(practices=1, days=DAYS, calls=30, seed=5, frozen=True) as platform:
        act_world(platform, folder).sync()
        yield platform, folder


@pytest.fixture
def world(synced: Synced, tmp_path: Path) -> ActWorld:
    platform, folder = synced
    platform.reset()
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return act_world(platform, tmp_path)


@pytest.fixture
def installed(world: ActWorld, monkeypatch: pytest.MonkeyPatch) -> ActWorld:
    """Provide the world as a user has it: a folder with `vetl.toml`, and the secrets in the environment."""
    enter(world.settings.warehouse.path.parent, world.platform, monkeypatch)
    Path("vetl.toml").write_text(toml_of(world), "utf-8")
    return world
