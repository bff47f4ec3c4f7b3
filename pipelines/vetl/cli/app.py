"""The command line: the options of every command, running one, and the end of the process.

Exit codes: 0 done and certified, 1 failed, 2 wrong use or configuration, 3 uncertified or quarantined. The process
ends in order after a signal, on a full disk, and if standard output cannot be written.
"""

import codecs
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path

import typer
from typer.exceptions import TyperException

from vetl.cli import commands, signals
from vetl.cli.terminal import configure_logs, direct, say
from vetl.core.errors import MAKE_ROOM, NO_ROOM, VetlError, WrongUse, unforeseen
from vetl.core.text import printable

WRITING = frozenset((
    "sync", "run", "reconcile", "build", "publish", "forget", "lake", "quarantine retry", "webhooks drain", "demo",
))  # fmt: skip
"""The commands that keep their progress if a signal ends them, each by one or two words."""


def prepare() -> None:
    """Create files that only their owner can read, write every character, and handle SIGTERM as Ctrl-C.

    The published file sets its own permissions.
    """
    os.umask(0o077)
    _write_every_character()
    signals.heed()


def _write_every_character() -> None:
    r"""Write a character that the encoding lacks as `\u0141`, which JSON reads back as that character."""
    codecs.register_error("vetl", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="vetl")
    if isinstance(sys.stdin, TextIOWrapper) and codecs.lookup(sys.stdin.encoding).name == "ascii":
        sys.stdin.reconfigure(encoding="utf-8")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)), error.end


def of_interrupt(command: Sequence[str]) -> tuple[str, int]:
    """Return the message and the exit code for a command, by its words, that a signal ended."""
    why, code = (
        ("terminated", signals.TERMINATED) if signals.is_terminated() else ("interrupted", signals.INTERRUPTED)
    )
    saves = not WRITING.isdisjoint((" ".join(command[:1]), " ".join(command[:2])))
    return f"{why}. Progress saved; run again to continue" if saves else why, code


def no_room(error: Exception) -> str | None:
    """Return a line that names the file if the disk is full; return `None` for any other error."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        reason = os.strerror(error.errno)
        return f"{error.filename}: {reason}{MAKE_ROOM}" if error.filename else f"standard output: {reason}"
    return None


def flush() -> str | None:
    """Flush standard output. Return one line if the disk is full, because Python would print a traceback."""
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - `_failed` sets it to `None`
        return None
    try:
        sys.stdout.flush()
    except OSError as error:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return no_room(error)
    return None


app = typer.Typer(
    help="Sync the platform's API into DuckDB, verify completeness, build reporting tables.",
    cls=commands.AllCommands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: commands.Version = False,
    quiet: commands.Quiet = False,
    verbose: commands.Verbose = 0,
    log_file: commands.LogFile = None,
    log_format: commands.LogFormat = "text",
    folder: commands.Folder = None,
    config: commands.Config = None,
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

        try:
            os.environ[CONFIG_VARIABLE] = str(config.expanduser().absolute())
        except RuntimeError:
            raise WrongUse(f"--config {config}: must not begin with ~ and the name of no account") from None


def main() -> None:
    """Run the `vetl` command."""
    prepare()
    code = execute(sys.argv[1:])
    unwritten = flush()
    sys.exit(_fail((), unwritten, 1) if unwritten else code)


def execute(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. An error becomes one line on standard error."""
    first, command = commands.split_options(arguments)
    try:
        code = app(first + command, prog_name="vetl", standalone_mode=False) or 0
    except Exception as error:  # noqa: BLE001 - `_failed` returns the exit code of any error
        if not signals.is_interrupted():
            return _failed(arguments, error)
        code = signals.INTERRUPTED
    if code != signals.INTERRUPTED:  # Typer turns an interrupt into this code
        return code
    message, code = of_interrupt(command)
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
        return _unread(0)
    if full := no_room(error):
        return _fail(arguments, full, 1)
    if "-vv" in arguments:
        raise error
    return _fail(arguments, f"{unforeseen(error)}; -vv shows the traceback", 1)


def _fail(arguments: Sequence[str], message: str, exit_code: int) -> int:
    """Write the error as one line, with `--json` also as an object, and return the exit code."""
    line = printable(" ".join(message.replace("Value error, ", "").split()))
    say(f"vetl: {line}", "error")
    if "--json" in arguments:
        try:
            sys.stdout.write(json.dumps({"exit_code": exit_code, "error": line}) + "\n")
        except BrokenPipeError:
            return _unread(exit_code)
    return exit_code


def _unread(exit_code: int) -> int:
    """Give up the output, whose reader has closed the pipe: Python would report the error again at exit."""
    sys.stdout = None
    return exit_code
