"""How much of what is drawn at random runs: few in `make test`, ten times that and more in `make nightly`."""

import os

from hypothesis import settings

USUAL = 17
"""The examples of a property in `make test` (`tests/conftest.py`): a third of `GIVEN_FOR`."""
GIVEN_FOR = 50
STORIES = os.environ.get("VETL_CHAOS_SEEDS", "")
"""The number of stories of each kind, or a range of their seeds (`20-200`); without it, each kind has its few."""


def examples(few: int) -> int:
    """Return the number of examples of a slow property, for which the profile's 50 would be `few`."""
    assert settings.default
    return max(1, few * settings.default.max_examples // GIVEN_FOR)


def seeds(few: int) -> range:
    """Return the seeds of the stories of this run, which are `few` in `make test`."""
    first, _, last = STORIES.rpartition("-")
    return range(int(first or 0), int(last or few))
