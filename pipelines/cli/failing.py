"""How a command that failed says so: one line on standard error, and one object with `--json`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from traceback import extract_tb

from typer.exceptions import TyperException

from pipelines.cli import ending
from pipelines.core.errors import VetlError, WrongUse
from pipelines.core.text import printable


def failed(arguments: Sequence[str], error: Exception) -> int:
    """Say what failed, in one line, and return the exit code."""
    if isinstance(error, VetlError):
        return fail(arguments, str(error), error.exit_code)
    if isinstance(error, TyperException):
        if (message := error.format_message()) == "Missing command.":
            message = f"{' '.join(arguments)}: which command? `vetl {' '.join(arguments)} --help` names them"
        return fail(arguments, message, WrongUse.exit_code)
    if isinstance(error, BrokenPipeError):
        # Who read our output has seen enough; Python would complain once more when it flushes at exit.
        sys.stdout = None
        return 0
    if full := ending.no_room(error):
        return fail(arguments, full, 1)
    if "-vv" in arguments:
        raise error
    place = extract_tb(error.__traceback__)[-1]
    # The message is left out: an error that nobody foresaw may quote a row.
    unforeseen = f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}"
    return fail(arguments, f"internal error: {unforeseen}; -vv shows the traceback", 1)


def fail(arguments: Sequence[str], message: str, exit_code: int) -> int:
    """Say one line, and with `--json` print one object too; return the exit code."""
    from pipelines.cli.output import say  # noqa: PLC0415 - not needed for `--help`

    line = printable(" ".join(message.replace("Value error, ", "").split()))
    say(f"vetl: {line}", "error")
    if "--json" in arguments:
        sys.stdout.write(json.dumps({"exit_code": exit_code, "error": line}) + "\n")
    return exit_code
