"""The output of a command: results to standard output, messages to standard error, both to the log file.

`rich` is imported by the functions that need it, since `vetl --help` does not.
"""

import csv
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import Literal, TextIO, TypeVar

from pydantic_core import to_json

from vetl.core.errors import WrongUse, cannot_write
from vetl.core.text import cell, json_text, printable, text

LogFormat = Literal["text", "json"]


@dataclass(eq=False, slots=True, weakref_slot=True)
class Output:
    """The values of `--quiet`, `--log-file` and `--log-format`, as a stream that structlog can write to."""

    quiet: bool = False
    log_format: LogFormat = "text"
    file: TextIO | None = None

    def write(self, text: str) -> int:
        """Write text to standard error, and to the log file with the time before each line."""
        sys.stderr.write(text)
        self.keep(text)
        return len(text)

    def keep(self, text: str) -> None:
        """Write text to the log file alone."""
        if self.file and text.strip():
            stamp = "" if self.log_format == "json" else f"{_now()} "
            self.file.write(f"{stamp}{text.rstrip()}\n")

    def flush(self) -> None:
        """Flush standard error and the log file."""
        sys.stderr.flush()
        if self.file:
            self.file.flush()


OUTPUT = Output()
"""The output of this process, which runs one command."""


def direct(*, quiet: bool, log_file: Path | None, log_format: LogFormat) -> None:
    """Set the output options of this process."""
    if OUTPUT.file:
        OUTPUT.file.close()
    OUTPUT.quiet, OUTPUT.log_format, OUTPUT.file = quiet, log_format, None
    if log_file:
        try:
            OUTPUT.file = log_file.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise WrongUse(cannot_write(f"--log-file {log_file}", error)) from None


def say(line: str, level: str = "info") -> None:
    """Write a line to standard error and to the log file."""
    OUTPUT.write(f"{_formatted(line, level)}\n")


def mention(line: str) -> None:
    """Write a line about expected progress; with `--quiet` to the log file alone."""
    if OUTPUT.quiet:
        keep(line)
    else:
        say(line)


def keep(line: str) -> None:
    """Write a line to the log file alone: a result, which standard output has, or which `--quiet` hides."""
    OUTPUT.keep(_formatted(line, "info") if line else "")


def _formatted(line: str, level: str) -> str:
    line = printable(line)
    if OUTPUT.log_format == "json":
        return json.dumps({"timestamp": _now(), "level": level, "event": line}, ensure_ascii=False)
    return line


def configure_logs(verbosity: int) -> None:
    """Send the logs of all packages to the same output."""
    from vetl.jobs import logs  # noqa: PLC0415 - structlog is not needed for `--help`

    logs.configure_logs(verbosity, OUTPUT, as_json=OUTPUT.log_format == "json")  # pyright: ignore[reportArgumentType] - a stream that writes to two


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Item = TypeVar("Item")

MANY_PRACTICES = 5
"""With more practices than this, a table has a row for each practice: 30 practices have 210 lists."""
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
    is never hidden, and any other is hidden too if all its cells are empty. A column with a `min_width` is wrapped
    down to it before it is hidden. One with `if_filled` is shown nowhere if all its cells are empty.
    """

    name: str
    hide_rank: int = 0
    min_width: int = 0
    if_filled: bool = False


Columns = Mapping[str | TableColumn, Callable[[Item], object]]
"""The columns of a table, each with the function that returns its cell for an item."""


def json_of(value: object) -> str:
    """Return a value as JSON."""
    return json_text(to_json(value, inf_nan_mode="null", bytes_mode="hex", fallback=str).decode())


def print_json(value: object) -> None:
    """Print a JSON value on one line; instants are in ISO 8601."""
    sys.stdout.write(json_of(value) + "\n")
    sys.stdout.flush()


def print_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print the columns and the rows as CSV."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([cell(column) for column in columns])
    writer.writerows([cell(value) for value in row] for row in rows)


def print_line(line: str) -> None:
    """Print a bold line with the result of a command; with `--quiet` only the log file has it."""
    keep(line)
    if not OUTPUT.quiet:
        _print_styled(line, "bold")


def print_aside(line: str) -> None:
    """Print a pale line below a table; print nothing with `--quiet`."""
    if not OUTPUT.quiet:
        _print_styled(line, "dim")


def _print_styled(line: str, style: str) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    Console(soft_wrap=True, highlight=False).print(Text(line, style=style))


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
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    named = [TableColumn(column) if isinstance(column, str) else column for column in columns]
    cells = [[text(value) for value in row] for row in rows]
    terminal = sys.stdout.isatty()
    console = Console(soft_wrap=not terminal, highlight=False)
    if not terminal:
        console.width = 10_000
    if title:
        console.print(Text(title, style="bold"))
    if not rows:
        return
    filled = [
        index
        for index, column in enumerate(named)
        if not ((terminal and column.hide_rank) or column.if_filled) or any(row[index] for row in cells)
    ]
    shown = _fitting(named, filled, cells, console.width)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for index in shown:
        numeric = all(isinstance(row[index], (int, float, type(None))) for row in rows)
        name = Text(named[index].name, style="bold")
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(row[index], style=STATES.get(row[index], "")) for index in shown))
    console.print(table)
    if hidden := [named[index].name for index in filled if index not in shown]:
        console.print(Text(f"not shown at this width: {', '.join(hidden)}", style="dim"))


def print_items(title: str, columns: Columns[Item], items: Iterable[Item]) -> None:
    """Print a table with a row for each item."""
    print_table(title, list(columns), [[of(item) for of in columns.values()] for item in items])


def _fitting(
    columns: Sequence[TableColumn], filled: Sequence[int], rows: Sequence[Sequence[str]], width: int
) -> list[int]:
    """Return the columns that fit, those with the least `hide_rank` first; rich wraps them between words.

    If no column has a rank (the answer to a query), the last ones are hidden, and only if words would be broken.
    """
    has_ranks = any(column.hide_rank for column in columns)
    room, shown = width + GAP, list[int]()
    for index in sorted(filled, key=lambda index: columns[index].hide_rank):
        column, values = columns[index], [columns[index].name, *(row[index] for row in rows)]
        whole = max(len(line) for value in values for line in (*value.splitlines(), ""))
        word = min(WIDEST_WORD, max(len(word) for value in values for word in (*value.split(), "")))
        least = word if not has_ranks else min(whole, max(word, column.min_width)) if column.min_width else whole
        room -= least + GAP
        if room >= 0 or not (column.hide_rank or (shown and not has_ranks)):
            shown.append(index)
        elif has_ranks:
            room += least + GAP  # a narrower column may still fit
    return sorted(shown)
