"""Print results on standard output. Messages about progress go to standard error."""

import csv
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from pydantic_core import to_json
from rich.console import Console
from rich.table import Table
from rich.text import Text

from vetl.cli.output import OUTPUT, keep, mention, say
from vetl.core.text import cell, json_text, text

__all__ = [
    "MANY_PRACTICES",
    "TableColumn",
    "count",
    "mention",
    "print_aside",
    "print_csv",
    "print_json",
    "print_line",
    "print_table",
    "say",
    "short",
    "this_command",
]

MANY_PRACTICES = 5
"""With more practices than this, a table has a row for each practice: 30 practices have 210 lists."""
NUMBERS = (int, float)
GAP = 2
"""Spaces between columns."""
WIDEST_WORD = 30
"""Characters. A longer word, such as an id or a path, may be broken."""

STATES = {
    **dict.fromkeys(("certified", "honoured", "agrees"), "green"),
    **dict.fromkeys(("failed", "WRONG", "REFUSED"), "bold red"),
    **dict.fromkeys(("uncertified", "partly read", "ignored", "cannot tell"), "yellow"),
    **dict.fromkeys(("withdrawn", "received", "not read"), "dim"),
}
"""The colour of each state. The variable `NO_COLOR` turns all colours off."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table.

    If the terminal is too narrow, columns are hidden, those with the highest `hide_rank` first. A column of rank 0
    is never hidden, and any other is hidden too if all its cells are empty. A column is wrapped down to
    `min_width` before it is hidden.
    """

    name: str
    hide_rank: int = 0
    min_width: int = 0


def print_json(value: object) -> None:
    """Print a JSON value on one line; instants are in ISO 8601."""
    sys.stdout.write(json_text(to_json(value, inf_nan_mode="null", fallback=str).decode()) + "\n")
    sys.stdout.flush()


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print the columns and the rows as CSV."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([cell(column) for column in columns])
    writer.writerows([cell(value) for value in row] for row in rows)


def print_line(line: str) -> None:
    """Print a bold line with the result of a command; with `--quiet` only the log file has it."""
    keep(line)
    if OUTPUT.quiet:
        return
    Console(soft_wrap=True, highlight=False).print(Text(line, style="bold"))


def print_aside(line: str) -> None:
    """Print a pale line below a table; print nothing with `--quiet`."""
    if not OUTPUT.quiet:
        Console(soft_wrap=True, highlight=False).print(Text(line, style="dim"))


def short(path: Path) -> str:
    """A path as it is typed from here: without this folder where it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def this_command() -> str:
    """Return the command that starts this vetl: its name if the shell finds it, else its path."""
    on_path, here = shutil.which("vetl"), Path(sys.argv[0]).absolute()
    if on_path and Path(on_path).resolve() == here.resolve():
        return "vetl"
    return quote(short(here)) if here.name == "vetl" else f"{quote(short(Path(sys.executable)))} -m vetl"


def count(number: int, noun: str) -> str:
    """`1 row`, `1,200 rows`: the noun in its number."""
    return f"{number:,} {noun if number == 1 else noun + 's'}"


def print_table(title: str, columns: Sequence[str | TableColumn], rows: Sequence[Sequence[object]]) -> None:
    """Print a table; print nothing with `--quiet`. The log file has the title.

    Numbers are aligned to the right. If the output is not a terminal, all columns are printed in full.
    """
    keep(title)
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
    candidates = [index for index in range(len(named)) if not terminal or _is_filled(named[index], index, cells)]
    widths = _widths(named, candidates, cells, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for index, width in widths.items():
        numeric = bool(rows) and all(isinstance(row[index], (*NUMBERS, type(None))) for row in rows)
        name = Text(named[index].name, style="bold")
        table.add_column(name, justify="right" if numeric else "left", overflow="fold", width=width)
    for row in cells:
        table.add_row(*(Text(row[index], style=STATES.get(row[index], "")) for index in widths))
    if rows:
        console.print(table)
    hidden = ", ".join(named[index].name for index in candidates if index not in widths)
    if hidden and rows:
        console.print(Text(f"not shown at this width: {hidden}", style="dim"))


def _is_filled(column: TableColumn, index: int, rows: Sequence[Sequence[str]]) -> bool:
    return not column.hide_rank or not rows or any(row[index] for row in rows)


def _widths(
    columns: Sequence[TableColumn], candidates: Sequence[int], rows: Sequence[Sequence[str]], width: int
) -> dict[int, int]:
    """Return the width of each visible column by its index. Only `candidates` can be visible.

    Columns with a `hide_rank` are hidden, in its order, until the rest fits; a narrower one may still fit. If no
    column has one (the answer to a query), columns are wrapped between words, and the last columns are hidden only
    if words would be broken.
    """
    cells = [[column.name, *(row[index] for row in rows)] for index, column in enumerate(columns)]
    whole = [max(len(line) for cell in column for line in (*cell.splitlines(), "")) for column in cells]
    least = [
        min(WIDEST_WORD, max(len(word) for cell in column for word in (*cell.split(), ""))) for column in cells
    ]
    hide_ranks = {index: column.hide_rank for index, column in enumerate(columns) if column.hide_rank}
    needed = [
        min(full, max(words, column.min_width)) if column.min_width else full
        for full, words, column in zip(whole, least, columns, strict=True)
    ]
    needed = needed if hide_ranks else least
    hide_ranks = hide_ranks or {index: index for index in range(1, len(columns))}
    visible = _visible(candidates, hide_ranks, needed, width, keep_order=needed is least)
    spare = width - sum(least[index] + GAP for index in visible) + GAP
    widths: dict[int, int] = {}
    for index in visible:
        widths[index] = least[index] + max(0, min(whole[index] - least[index], spare))
        spare -= widths[index] - least[index]
    return widths


def _visible(
    candidates: Sequence[int],
    hide_ranks: Mapping[int, int],
    needed: Sequence[int],
    width: int,
    *,
    keep_order: bool,
) -> list[int]:
    """Return the columns that fit, the least `hide_rank` first; with `keep_order`, none after a hidden one."""
    room = width + GAP - sum(needed[index] + GAP for index in candidates if index not in hide_ranks)
    visible = [index for index in candidates if index not in hide_ranks]
    for index in sorted(set(candidates) - set(visible), key=hide_ranks.__getitem__):
        if needed[index] + GAP <= room:
            visible.append(index)
            room -= needed[index] + GAP
        elif keep_order:
            break
    return sorted(visible)
