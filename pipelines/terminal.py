"""How vetl speaks: results on standard output, everything that is said on the way on standard error."""

import logging
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime

import structlog
from pydantic_core import to_json
from rich.console import Console
from rich.markup import escape
from rich.table import Table

NUMBERS = (int, float)


def print_json(value: object) -> None:
    """One JSON value on standard output, on one line; instants in ISO 8601."""
    sys.stdout.write(to_json(value, inf_nan_mode="null", fallback=str).decode() + "\n")
    sys.stdout.flush()


def say(line: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"{line}\n")


def text(value: object) -> str:
    """A value as an analyst reads it: nothing for null, `true` and `false`, instants in UTC."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case datetime():
            instant = value if value.tzinfo is None else value.astimezone(UTC)
            return instant.isoformat(sep=" ").replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case list() | dict() | tuple():
            return to_json(value, fallback=str).decode()
        case _:
            return str(value)


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on standard output. Numbers to the right; nothing is cut where the output is not a terminal."""
    table = Table(title=title or None, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[index], (*NUMBERS, type(None))) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", header_style="bold", overflow="fold")
    for row in rows:
        table.add_row(*(escape(text(value)) for value in row))
    console = Console(soft_wrap=not sys.stdout.isatty())
    if not sys.stdout.isatty():
        console.width = 10_000
    console.print(table)


def configure_logs(verbosity: int) -> None:
    """Logs go to standard error: warnings, with `-v` what is done, with `-vv` every request."""
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbosity, logging.DEBUG)
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ],
    )
