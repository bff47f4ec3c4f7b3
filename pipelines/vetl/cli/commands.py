"""The commands by what one wants, their class, and the options that several of them share.

A module has its commands with their options, examples and output, and is named beside each of them, in
`GROUPS` or by its addon. The module of a command is imported if the command is called.

Times for people are shown in the time zone of this machine.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from vetl import hooks
from vetl.cli import signals

Command = TypeVar("Command", bound=Callable[..., Any])

GROUPS = {
    "Start": {
        "demo": ("demo", "Try everything on a made-up platform on this machine."),
        "init": ("init", "Write vetl.toml, .env and .gitignore; asks on a terminal."),
        "doctor": ("doctor", "Compare the settings with the platform; --write corrects them."),
        "run": ("run", "Sync, build and publish, as a schedule does."),
    },
    "Look": {
        "status": ("status", "Show the state of practices and lists, also while a sync runs."),
        "query": ("query", "Query the published file."),
        "metric": ("metric", "Ask for a metric by name; a rate comes with its counts."),
        "explain": ("explain", "Show the rows that a figure counts, and what proves them."),
        "dashboard": ("dashboard", "Show the published file to managers, in the browser."),
    },
    "Check": {
        "verify": ("verify", "Check that no value of a published file was changed."),
        "reconcile": ("run", "Read history again, repair late changes and deletions."),
        "quarantine": ("quarantine", "List rejected rows, acknowledge or retry them."),
    },
    "Act": {},
    "Operate": {
        "sync": ("run", "Read new and changed rows into the private warehouse."),
        "build": ("run", "Build the marts with dbt, then publish."),
        "publish": ("publish", "Replace the published file by the current marts."),
        "forget": ("forget", "Remove a person from everything that vetl keeps."),
        "backup": ("backup", "Copy all that vetl keeps into a folder, and verify the copy."),
        "restore": ("backup", "Verify a backup, and put it in the place of what vetl keeps."),
    },
    "Tools": {
        "notebook": ("dashboard", "Start a notebook on the published file, for analysts."),
        "sandbox": ("sandbox", "Run a made-up platform on this machine."),
        "dbt": ("installed", "Run dbt on vetl's models and warehouse: vetl dbt ls."),
        "dagster": ("installed", "Run Dagster on vetl's definitions: vetl dagster dev."),
    },
}
"""The module of `vetl.cli` with each command, and the line about it."""

NAMES_ALONE = ("Operate", "Tools")
"""The groups that `vetl --help` only names: fifteen lines are read, thirty are not."""


@cache
def groups() -> dict[str, dict[str, tuple[str, str]]]:
    """Return the module of each command and the line about it by heading, those of the addons last."""
    every = {
        title: {name: (f"vetl.cli.{module}", line) for name, (module, line) in group.items()}
        for title, group in GROUPS.items()
    }
    for title, name, module, line in hooks.commands():
        every.setdefault(title, {})[name] = (module, line)
    return {title: group for title, group in every.items() if group}


@cache
def lines() -> dict[str, str]:
    """Return the line about each command."""
    return {name: line for group in groups().values() for name, (_, line) in group.items()}


class WithSettings(TyperCommand):
    """A command that refuses to start in a folder without settings.

    The check is made after the arguments are parsed, so that `--help` answers in any folder.
    """

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - the context is a class of Typer that is not public
        """Run the command."""
        from vetl.settings import require_settings  # noqa: PLC0415 - pydantic is not needed for `--help`

        if "--help" not in ctx.args:  # of dbt and Dagster, which get all arguments
            require_settings(needs_secrets=False)  # a command that needs secrets reads them itself
        return super().invoke(ctx)


class Commands(typer.Typer):
    """The commands of a module; if none has the name of the module's command, that name stands before theirs."""

    def __init__(self) -> None:
        super().__init__(rich_markup_mode=None, add_completion=False)

    def command(  # noqa: D417 - as Typer's
        self,
        name: str | None = None,
        *,
        examples: str = "",
        needs_settings: bool = True,
        **more: Any,  # noqa: ANN401 - as Typer's
    ) -> Callable[[Command], Command]:
        """Return the decorator that adds a function as a command.

        Args:
            examples: the lines at the end of its help.
            needs_settings: false if it runs in any folder, or decides itself whether it needs settings.
        """
        lines = [f"  {line.strip()}" for line in examples.splitlines() if line.strip()]
        # The backspace makes Typer keep the line breaks.
        epilog = "\n".join(("\b", "Examples:", *lines)) if lines else None
        kind = WithSettings if needs_settings else TyperCommand
        return super().command(name, cls=kind, epilog=epilog, **more)


class _Loaded(Mapping[str, Any]):
    """The commands by their names, each imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a class of Typer that is not public
        modules = {name: module for group in groups().values() for name, (module, _) in group.items()}
        with signals.waiting():
            commands = get_group(import_module(modules[name]).app)
        if name in commands.commands:
            return commands.commands[name]
        commands.name, commands.help = name, lines()[name]
        return commands

    def __iter__(self) -> Iterator[str]:
        return iter(lines())

    def __len__(self) -> int:
        return len(lines())


class AllCommands(TyperGroup):
    """All commands: the help and the completion of their names import none of them."""

    def __init__(self, **more: Any) -> None:  # noqa: ANN401 - as Typer's own
        more["commands"] = _Loaded()
        super().__init__(**more)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401 - classes of Typer that are not public
        """Return the command; `vetl help` is none of `lines()`, as it stands in each help."""
        return get_command(app) if cmd_name == "help" else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - as above
        """Write the everyday groups with a line for each command, and the names of the others."""
        _write_groups(formatter, [title for title in groups() if title not in NAMES_ALONE])
        with formatter.section("More (vetl help has a line about each)"):
            formatter.write_dl([(title, ", ".join(groups()[title])) for title in NAMES_ALONE])

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:  # noqa: ANN401 - as above
        """Complete the name of a command."""
        self.commands = {name: TyperCommand(name, short_help=line) for name, line in lines().items()}
        return super().shell_complete(ctx, incomplete)


def _write_groups(formatter: Any, titles: Iterable[str]) -> None:  # noqa: ANN401 - as above
    widest = max(map(len, lines()))
    for title in titles:
        with formatter.section(title):
            formatter.write_dl([(name.ljust(widest), line) for name, (_, line) in groups()[title].items()])


app = Commands()


@app.command("help", needs_settings=False, examples="vetl help sync")
def show_help(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="COMMAND", help="One command.")] = None,
) -> None:
    """Show all commands with a line about each, or the help of one."""
    if name is None:
        formatter = context.make_formatter()
        _write_groups(formatter, groups())
        typer.echo(formatter.getvalue().strip())
        return
    root: Any = context.find_root()
    _, command, _ = root.command.resolve_command(root, [name])
    typer.echo(command.get_help(context.__class__(command, info_name=name, parent=root)))


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
    from vetl.figures.catalogue import worked_questions  # noqa: PLC0415 - not needed for `--help`

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


def day_option(name: str, words: str) -> Any:  # noqa: ANN401 - an option of Typer
    """Return an option that takes a day."""
    return typer.Option(name, formats=["%Y-%m-%d"], metavar="DATE", help=words)


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
