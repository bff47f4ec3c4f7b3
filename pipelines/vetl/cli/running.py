"""Run one command, and turn an error into an exit code and one line on standard error."""

import json
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from vetl.cli import process_exit
from vetl.cli.options import split_options
from vetl.cli.output import say
from vetl.core.errors import VetlError, WrongUse, unforeseen
from vetl.core.text import printable


def run_command(app: typer.Typer, arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    options, command = split_options(arguments)
    try:
        code = app(options + command, prog_name="vetl", standalone_mode=False) or 0
    except Exception as error:  # noqa: BLE001 - `_failed` returns the exit code of any error
        if not process_exit.is_of_interrupt(error):
            return _failed(arguments, error)
        code = process_exit.INTERRUPTED
    if code != process_exit.INTERRUPTED:  # Typer turns an interrupt into this code
        return code
    message, code = process_exit.of_interrupt(command)
    return fail(arguments, message, code)


def _failed(arguments: Sequence[str], error: Exception) -> int:
    if isinstance(error, VetlError):
        return fail(arguments, str(error), error.exit_code)
    if isinstance(error, TyperException):
        if (message := error.format_message()) == "Missing command.":
            message = (
                f"{' '.join(arguments)}: which command? `vetl {' '.join(arguments)} --help` lists the commands"
            )
        return fail(arguments, message, WrongUse.exit_code)
    if isinstance(error, BrokenPipeError):
        # The reader has closed the pipe. Python would report the error once more when it flushes at exit.
        sys.stdout = None
        return 0
    if full := process_exit.no_room(error):
        return fail(arguments, full, 1)
    if "-vv" in arguments:
        raise error
    return fail(arguments, f"{unforeseen(error)}; -vv shows the traceback", 1)


def fail(arguments: Sequence[str], message: str, exit_code: int) -> int:
    """Write the error as one line, with `--json` also as an object, and return the exit code."""
    line = printable(" ".join(message.replace("Value error, ", "").split()))
    say(f"vetl: {line}", "error")
    if "--json" in arguments:
        sys.stdout.write(json.dumps({"exit_code": exit_code, "error": line}) + "\n")
    return exit_code
