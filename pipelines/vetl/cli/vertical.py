"""Write rows with many or long columns as one line for each column, wrapped between words."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from vetl.core.text import text

_LEAST = 20
"""The least number of characters of a value in a line, even on a narrower terminal."""


def vertical(columns: Sequence[str], rows: Iterable[Sequence[object]], width: int | None) -> Iterator[str]:
    """Yield the text of each row. Without `width`, no value is wrapped."""
    names = [text(column) for column in columns]
    longest = max((len(name) for name in names), default=0)
    for number, row in enumerate(rows, 1):
        lines = [f"row {number}"]
        for name, value in zip(names, row, strict=True):
            lines += _wrapped(f"  {name:{longest}}  ", text(value), width)
        yield "\n".join(line.rstrip() for line in lines) + "\n"


def _wrapped(label: str, value: str, width: int | None) -> list[str]:
    """Return the lines of one value: the first begins with the label, the others with as many spaces."""
    lines = value.splitlines() or [""]
    if width:
        room = max(_LEAST, width - len(label))
        lines = [part for line in lines for part in textwrap.wrap(line, room) or [""]]
    return [f"{label if index == 0 else ' ' * len(label)}{line}" for index, line in enumerate(lines)]
