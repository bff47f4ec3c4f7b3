"""The commands by what one wants, and their class. The module of a command is imported if the command is called.

A module has its commands with their options, examples and output, and is named beside each of them, in
`GROUPS` or by its addon.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group

from vetl import hooks

Command = TypeVar("Command", bound=Callable[..., Any])

GROUPS = {
    "Start": {
        "demo": ("demo", "Try everything on a made-up platform on this machine."),
        "init": ("init", "Write vetl.toml, .env and .gitignore; asks on a terminal."),
        "doctor": ("doctor", "Compare the settings with the platform; --write corrects them."),
        "run": ("run", "Sync, build and publish, as a schedule does."),
    },
    "Look": {
        "status": ("status", "Show the state of each list, also while a sync runs."),
        "query": ("query", "Query the published file."),
        "metric": ("metric", "Ask for a metric by name; a rate comes with its counts."),
        "explain": ("explain", "Show the rows that a figure counts, and what proves them."),
        "dashboard": ("dashboard", "Show the published file to managers, in the browser."),
    },
    "Check": {
        "verify": ("verify", "Check that no value of a published file was changed."),
        "reconcile": ("run", "Read history again, repair late changes and deletions."),
        "quarantine": ("quarantine", "List rejected rows and retry them."),
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
        epilog = "\n".join(("\b", "Examples:", *lines))  # the backspace makes Typer keep the line breaks
        kind = WithSettings if needs_settings else TyperCommand
        return super().command(name, cls=kind, epilog=epilog, **more)


class _Loaded(Mapping[str, Any]):
    """The commands by their names, each imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - a class of Typer that is not public
        modules = {name: module for group in groups().values() for name, (module, _) in group.items()}
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
