"""The parts of `vetl status`."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Problem:
    """A line about a problem for an operator, and its exit code."""

    exit_code: int
    line: str


@dataclass(frozen=True, slots=True)
class StatusPart:
    """The part of an addon: problems, lines for the terminal, and a `name` with its `content` for `--json`."""

    problems: tuple[Problem, ...] = ()
    lines: tuple[str, ...] = ()
    name: str = ""
    content: Any = None
