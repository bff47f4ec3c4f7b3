"""What holds for every test."""

import atexit
import gc
import os
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import structlog
from hypothesis import settings
from support import warm_dbt
from support.examples import USUAL

from pipelines.jobs import dbt_process
from pipelines.partner import credential_cache


def _end_quietly() -> None:
    """Drop the last output to standard error: DuckDB's binding prints fifty lines about leaks as Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


atexit.register(_end_quietly)  # the first to be registered runs last

settings.register_profile("vetl", deadline=None, print_blob=True, derandomize=True, max_examples=USUAL)
settings.register_profile("explore", parent=settings.get_profile("vetl"), derandomize=False, max_examples=500)
settings.load_profile("vetl")

gc.set_threshold(50_000, 20, 100)  # Python's usual search for garbage takes a twentieth of the CPU

credential_cache._COST["n"] = 2  # pyright: ignore[reportPrivateUsage] - a price, no behaviour
"""Each sign-in costs 50 ms of CPU, against guessing; hundreds of tests sign in, and their passwords are public."""

LONG = {"chaos", "cli", "e2e", "orchestration", "transform"}
"""Folders of tests that sync, build and publish."""
FIRST = "test_build.py"
"""It makes what other files of its folder share: else two processes come to it at once, and one waits."""


def pytest_configure(config: pytest.Config) -> None:
    """One server of dbt for the whole run; `tests/cli/test_dbt_process.py` shows how users start dbt."""
    if not hasattr(config, "workerinput"):
        stack = ExitStack()
        stack.enter_context(warm_dbt.warm_dbt())
        config.add_cleanup(stack.close)
    dbt_process.COMMAND = warm_dbt.command()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first: processes that take a file at a time then end at about the same moment."""
    items.sort(key=lambda item: (item.path.name != FIRST, item.path.parent.name not in LONG))


@pytest.fixture(autouse=True)
def _logs_of_one_test() -> Iterator[None]:
    """Forget how a command of this test configured the logs: `--quiet` would hide the lines of the next test."""
    yield
    structlog.reset_defaults()
