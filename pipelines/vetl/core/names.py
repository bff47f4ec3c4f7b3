"""Name a few of many, for one line of a message."""

from collections.abc import Sequence


def some_of(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, and how many more there are: `a, b, c and 4 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
