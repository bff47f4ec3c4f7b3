"""The number of examples of a property: few in `make test`, ten times that in `make chaos`."""

from hypothesis import settings

USUAL = 50
"""The number in the profile of `make test` (`tests/conftest.py`)."""


def examples(few: int) -> int:
    """Return so many for `make test`, and more if the profile has more."""
    assert settings.default
    return few * settings.default.max_examples // USUAL
