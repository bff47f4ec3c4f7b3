"""How vetl speaks: results on standard output, everything that is said on the way on standard error."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic_core import to_json
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipelines.cli.output import OUTPUT, mention, say
from pipelines.core.text import json_text, text

__all__ = [
    "MANY_PRACTICES",
    "TableColumn",
    "count",
    "mention",
    "print_aside",
    "print_json",
    "print_line",
    "print_table",
    "say",
    "short",
]

MANY_PRACTICES = 5
"""With more practices a table has a row for each of them: 30 practices have 210 lists."""
NUMBERS = (int, float)
GAP = 2
"""Spaces between columns."""
LONGEST_WORD = 30
"""A longer one, an id or a path, may be broken."""

STATES = {
    **dict.fromkeys(("certified", "honoured", "agrees"), "green"),
    **dict.fromkeys(("failed", "WRONG", "REFUSED"), "bold red"),
    **dict.fromkeys(("uncertified", "partly read", "ignored", "cannot tell"), "yellow"),
    **dict.fromkeys(("withdrawn", "received", "not read"), "dim"),
}
"""The colour of a state, wherever one is shown; `NO_COLOR` takes all of them away."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column. Where the terminal is too narrow, the one with the highest `leaves` goes first; 0 stays.

    One that may leave does so too where it holds nothing. `least`: the width to which it is wrapped before that.
    """

    name: str
    leaves: int = 0
    least: int = 0


def print_json(value: object) -> None:
    """One JSON value on standard output, on one line; instants in ISO 8601."""
    sys.stdout.write(json_text(to_json(value, inf_nan_mode="null", fallback=str).decode()) + "\n")
    sys.stdout.flush()


def print_line(line: str) -> None:
    """One bold line on standard output: what a command did; nothing with `--quiet`."""
    if OUTPUT.quiet:
        return
    Console(soft_wrap=True, highlight=False).print(Text(line, style="bold"))


def print_aside(line: str) -> None:
    """One pale line on standard output, below a table."""
    if not OUTPUT.quiet:
        Console(soft_wrap=True, highlight=False).print(Text(line, style="dim"))


def short(path: Path) -> str:
    """A path as it is typed from here: without this folder where it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def count(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`: the noun in its number."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def print_table(title: str, columns: Sequence[str | TableColumn], rows: Sequence[Sequence[object]]) -> None:
    """A table on standard output; nothing with `--quiet`.

    Numbers stand to the right. Nothing is left out where the output is not a terminal.
    """
    if OUTPUT.quiet:
        return
    named = [TableColumn(column) if isinstance(column, str) else column for column in columns]
    cells = [[text(value) for value in row] for row in rows]
    terminal = sys.stdout.isatty()
    console = Console(soft_wrap=not terminal, highlight=False)
    if not terminal:
        console.width = 10_000
    if title:
        console.print(Text(title, style="bold"))
    telling = [index for index in range(len(named)) if not terminal or _tells(named[index], index, cells)]
    widths = _widths(named, telling, cells, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for index, width in widths.items():
        numeric = bool(rows) and all(isinstance(row[index], (*NUMBERS, type(None))) for row in rows)
        name = Text(named[index].name, style="bold")
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", width=width)
    for row in cells:
        table.add_row(*(Text(row[index], style=STATES.get(row[index], "")) for index in widths))
    if rows:
        console.print(table)
    hidden = ", ".join(named[index].name for index in telling if index not in widths)
    if hidden:
        console.print(Text(f"not shown at this width: {hidden}", style="dim"))


def _tells(column: TableColumn, index: int, rows: Sequence[Sequence[str]]) -> bool:
    return not column.leaves or not rows or any(row[index] for row in rows)


def _widths(
    columns: Sequence[TableColumn], telling: Sequence[int], rows: Sequence[Sequence[str]], width: int
) -> dict[int, int]:
    """How wide each column is that is shown, of those that are `telling`, by its index.

    Where some may leave, they do so in their order before any is wrapped. Where none may (answers of any shape),
    columns are wrapped between words, and the last ones leave only where words would be broken.
    """
    cells = [[column.name, *(row[index] for row in rows)] for index, column in enumerate(columns)]
    whole = [max(len(line) for cell in column for line in (*cell.splitlines(), "")) for column in cells]
    least = [
        min(LONGEST_WORD, max(len(word) for cell in column for word in (*cell.split(), ""))) for column in cells
    ]
    may_leave = {index: column.leaves for index, column in enumerate(columns) if column.leaves}
    needed = [
        min(full, max(words, column.least)) if column.least else full
        for full, words, column in zip(whole, least, columns, strict=True)
    ]
    needed = needed if may_leave else least
    may_leave = may_leave or {index: index for index in range(1, len(columns))}
    shown = list(telling)
    while sum(needed[index] + GAP for index in shown) - GAP > width and may_leave:
        leaving = max(may_leave, key=may_leave.__getitem__)
        del may_leave[leaving]
        shown = [index for index in shown if index != leaving]
    spare = width - sum(least[index] + GAP for index in shown) + GAP
    widths: dict[int, int] = {}
    for index in shown:
        widths[index] = least[index] + max(0, min(whole[index] - least[index], spare))
        spare -= widths[index] - least[index]
    return widths
