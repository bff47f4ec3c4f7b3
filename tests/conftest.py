"""Settings and fixtures of all tests."""

import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import structlog
from hypothesis import settings
from support import (
    impatient,  # noqa: F401 # pyright: ignore[reportUnusedImport] - its import is its effect
    quiet_end,  # noqa: F401 # pyright: ignore[reportUnusedImport] - as above
    warm_dbt,
)
from support.examples import STORIES, USUAL
from vetl.jobs import dbt_process

settings.register_profile("vetl", deadline=None, print_blob=True, derandomize=True, max_examples=USUAL)
settings.register_profile("explore", parent=settings.get_profile("vetl"), derandomize=False, max_examples=500)
settings.load_profile("vetl")

gc.set_threshold(50_000, 20, 100)  # with its defaults, Python's garbage collector takes a twentieth of the CPU

LONG = {"chaos", "cli", "e2e", "lake", "orchestration", "transform"}
"""Folders of tests that sync, build and publish."""
FIRST = "test_build.py"
"""This file makes the shared results of its folder; otherwise two processes need them at once, and one waits."""


def pytest_configure(config: pytest.Config) -> None:
    """Run one server of dbt for all tests; `tests/cli/test_dbt_process.py` uses the dbt of users."""
    if not hasattr(config, "workerinput"):
        stack = ExitStack()
        stack.enter_context(warm_dbt.warm_dbt())
        config.add_cleanup(stack.close)
    dbt_process.COMMAND = warm_dbt.command()


def pytest_report_header(config: pytest.Config) -> str:
    """Print what repeats this run."""
    seed = config.getoption("hypothesis_seed", None)
    return f"stories: VETL_CHAOS_SEEDS={STORIES or 'few'}; hypothesis seed: {seed or 'derived from each test'}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Order long files first, so that processes that each take a file at a time end at about the same moment."""
    items.sort(key=lambda item: (item.path.name != FIRST, item.path.parent.name not in LONG))


@pytest.fixture(autouse=True)
def _logs_of_one_test() -> Iterator[None]:
    """Forget how a command of this test configured the logs: `--quiet` would hide the lines of the next test."""
    yield
    structlog.reset_defaults()


@pytest.fixture(autouse=True)
def _settings_of_one_test() -> Iterator[None]:
    """Forget the `--config` of a command of this test, which sets a variable for the processes that it starts."""
    before = os.environ.get("VETL_CONFIG")
    yield
    if before is None:
        os.environ.pop("VETL_CONFIG", None)
    else:
        os.environ["VETL_CONFIG"] = before


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder, without vetl's variables in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("VETL_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def configured(tmp_path: Path) -> None:
    """Provide settings that name no practice."""
    (tmp_path / "vetl.toml").touch()
