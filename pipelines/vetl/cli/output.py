"""The messages of a command on standard error and in a log file, as text or as JSON lines."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TextIO

from vetl.core.errors import WrongUse, cannot_write
from vetl.core.text import printable

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
