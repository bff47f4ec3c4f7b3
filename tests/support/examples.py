"""How many examples of a property are tried: few in `make test`, ten times that in `make chaos`."""

from hypothesis import settings

USUAL = 50
"""Of the profile of `make test` (`tests/conftest.py`)."""


def examples(few: int) -> int:
    """So many in `make test`, and more as the profile has more."""
    assert settings.default
    return few * settings.default.max_examples // USUAL
