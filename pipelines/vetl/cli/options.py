"""The options that several commands share, and times for people, in the time zone of this machine."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal

import typer

Version = Annotated[bool, typer.Option("--version", help="Print the version.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print warnings and errors only.")]
LogFile = Annotated[
    Path | None, typer.Option("--log-file", metavar="FILE", help="Also write messages to FILE, with times.")
]
LogFormat = Annotated[
    Literal["text", "json"], typer.Option("--log-format", help="json: one object a line, for a log collector.")
]
Folder = Annotated[Path | None, typer.Option("-C", metavar="DIR", help="Run as if started in DIR.")]
Config = Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Read FILE instead of vetl.toml.")]

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Verbose = Annotated[
    int,
    typer.Option("-v", "--verbose", count=True, help="Print more; -vv prints every request.", show_default=False),
]


def _practices(incomplete: str) -> list[str]:
    """Return the ids of the configured practices, for completion. Return none if vetl.toml cannot be read."""
    from vetl.core.errors import ConfigurationError  # noqa: PLC0415 - not needed for `--help`
    from vetl.settings.sources import Sources  # noqa: PLC0415

    try:
        written = Sources.find(None).read_toml().get("practices", [])
        return [name for item in written if (name := str(item["id"])).startswith(incomplete)]
    except (ConfigurationError, LookupError, TypeError):
        return []


def _lists(incomplete: str) -> list[str]:
    from vetl.endpoints import REGISTRY  # noqa: PLC0415 - not needed for `--help`

    return [item.name for item in REGISTRY if item.name.startswith(incomplete)]


def _questions(incomplete: str) -> list[str]:
    from vetl.figures.questions import worked_questions  # noqa: PLC0415 - not needed for `--help`

    return [item.name for item in worked_questions() if item.name.startswith(incomplete)]


Practice = Annotated[
    str, typer.Option("--practice", metavar="ID", help="The client's practice.", autocompletion=_practices)
]
Practices = Annotated[
    list[str] | None,
    typer.Option("--practice", metavar="ID", help="Only this practice; repeatable.", autocompletion=_practices),
]
Lists = Annotated[
    list[str] | None,
    typer.Option("--endpoint", metavar="NAME", help="Only this list; repeatable.", autocompletion=_lists),
]
Question = Annotated[
    str | None,
    typer.Option("--question", metavar="NAME", help="Answer a worked question.", autocompletion=_questions),
]

Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where", metavar="DIMENSION=VALUE", help="Count only such rows; also != < <= > >=; repeatable."
    ),
]
Style = Annotated[Literal["table", "csv"], typer.Option("--format", help="Output format.")]
OtherFile = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="Read this published file; needs no settings.")
]
Browse = Annotated[bool, typer.Option("--open", help="Open it in the browser.")]


_FLAGS = frozenset(("--quiet", "-q", "--verbose", "-v", "-vv"))
_TAKING_A_VALUE = frozenset(("--log-file", "--log-format", "--config", "-C"))
_WITH_THEIR_VALUE = ("--log-file=", "--log-format=", "--config=")


def split_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the options of every command, which Typer accepts before its name only, and the command's own words.

    The arguments of `dagster` and `dbt` are all their own, because these programs have options `-C` and `--config`
    too.
    """
    first: list[str] = []
    rest: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        if argument in {"dagster", "dbt"} and not rest:
            return first, [argument, *remaining]
        if argument in _FLAGS or argument.startswith(_WITH_THEIR_VALUE):
            first.append(argument)
        elif argument in _TAKING_A_VALUE:
            first += [argument, *islice(remaining, 1)]
        else:
            rest.append(argument)
    return first, rest


WHOLE_DAYS = "phone_calls are certified by whole days of the practice's own time zone"
"""The note below a table with phone calls, because their midnights look odd in another time zone."""

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def local(instant: datetime | str | None) -> str:
    """Return an instant as `2026-11-22 07:03`, a date as `2026-11-22`, and `None` as an empty text."""
    if not instant:
        return ""
    parsed = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    is_day = isinstance(instant, str) and "T" not in instant
    return f"{parsed:%Y-%m-%d}" if is_day else f"{parsed.astimezone():%Y-%m-%d %H:%M}"


def zone() -> str:
    """Return the name of this machine's time zone."""
    return datetime.now(UTC).astimezone().tzname() or "local time"


def ago(instant: datetime | str, now: datetime | None = None) -> str:
    """Return `just now`, `5 min ago`, `3 h ago` or `2 days ago`."""
    then = datetime.fromisoformat(instant) if isinstance(instant, str) else instant
    seconds = int(((now or datetime.now(UTC)) - then) / timedelta(seconds=1))
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < _DAY:
        return f"{seconds // _HOUR} h ago"
    days = seconds // _DAY
    return f"{days} day{'s' if days > 1 else ''} ago"


_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


def in_words(line: str) -> str:
    """Return the line with each ISO 8601 instant in the form of `local`, followed by its age."""
    return _INSTANT.sub(lambda match: f"{local(match[0])} ({ago(match[0])})", line)
