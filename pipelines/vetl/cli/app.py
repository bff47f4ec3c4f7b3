"""The command line: the options of every command, and running one.

Exit codes: 0 done and certified, 1 failed, 2 wrong use or configuration, 3 uncertified or quarantined.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer
from typer.exceptions import TyperException

from vetl.cli import process_exit
from vetl.cli.commands import (
    AllCommands,
    Config,
    Folder,
    LogFile,
    LogFormat,
    Quiet,
    Verbose,
    Version,
    split_options,
)
from vetl.cli.output import configure_logs, direct, say
from vetl.core.errors import VetlError, WrongUse, unforeseen
from vetl.core.text import printable

app = typer.Typer(
    help="Sync the platform's API into DuckDB, verify completeness, build reporting tables.",
    cls=AllCommands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Version = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    log_file: LogFile = None,
    log_format: LogFormat = "text",
    folder: Folder = None,
    config: Config = None,
) -> None:
    """Apply the options of every command, which may stand before or after its name."""
    _enter(folder, config)
    direct(quiet=quiet, log_file=log_file, log_format=log_format)
    if version:
        from importlib.metadata import version as installed  # noqa: PLC0415 - not needed for `--help`

        typer.echo(f"vetl {installed('vetl-warehouse')}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
    else:
        configure_logs(verbose)


def _enter(folder: Path | None, config: Path | None) -> None:
    """Change to `folder`, and read settings from `config` instead of `vetl.toml`.

    A relative `config` starts at `folder`. Its path is put into the environment, so that child processes read the
    same file.
    """
    if folder:
        try:
            os.chdir(folder)
        except OSError as error:
            raise WrongUse(f"-C {folder}: {error.strerror}") from None
    if config:
        from vetl.settings.sources import CONFIG_VARIABLE  # noqa: PLC0415 - heavy, and not needed for `--help`

        os.environ[CONFIG_VARIABLE] = str(config.expanduser().absolute())


def main() -> None:
    """Run the `vetl` command."""
    process_exit.prepare()
    code = execute(sys.argv[1:])
    unwritten = process_exit.flush()
    sys.exit(_fail((), unwritten, 1) if unwritten else code)


def execute(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. An error becomes one line on standard error."""
    first, command = split_options(arguments)
    try:
        code = app(first + command, prog_name="vetl", standalone_mode=False) or 0
    except Exception as error:  # noqa: BLE001 - `_failed` returns the exit code of any error
        if not process_exit.is_of_interrupt(error):
            return _failed(arguments, error)
        code = process_exit.INTERRUPTED
    if code != process_exit.INTERRUPTED:  # Typer turns an interrupt into this code
        return code
    message, code = process_exit.of_interrupt(command)
    return _fail(arguments, message, code)


def _failed(arguments: Sequence[str], error: Exception) -> int:
    if isinstance(error, VetlError):
        return _fail(arguments, str(error), error.exit_code)
    if isinstance(error, TyperException):
        if (message := error.format_message()) == "Missing command.":
            message = (
                f"{' '.join(arguments)}: which command? `vetl {' '.join(arguments)} --help` lists the commands"
            )
        return _fail(arguments, message, WrongUse.exit_code)
    if isinstance(error, BrokenPipeError):
        # The reader has closed the pipe. Python would report the error once more when it flushes at exit.
        sys.stdout = None
        return 0
    if full := process_exit.no_room(error):
        return _fail(arguments, full, 1)
    if "-vv" in arguments:
        raise error
    return _fail(arguments, f"{unforeseen(error)}; -vv shows the traceback", 1)


def _fail(arguments: Sequence[str], message: str, exit_code: int) -> int:
    """Write the error as one line, with `--json` also as an object, and return the exit code."""
    line = printable(" ".join(message.replace("Value error, ", "").split()))
    say(f"vetl: {line}", "error")
    if "--json" in arguments:
        sys.stdout.write(json.dumps({"exit_code": exit_code, "error": line}) + "\n")
    return exit_code
