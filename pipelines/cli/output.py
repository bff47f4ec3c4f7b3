"""Where a command's words go: quiet or not, also into a file, for people or as JSON lines."""

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TextIO

from pipelines.core.errors import WrongUse
from pipelines.core.text import printable

LogFormat = Literal["text", "json"]


@dataclass(eq=False, slots=True, weakref_slot=True)
class Output:
    """What `--quiet`, `--log-file` and `--log-format` ask for; a stream that structlog can write to."""

    quiet: bool = False
    log_format: LogFormat = "text"
    file: TextIO | None = None

    def write(self, text: str) -> int:
        """Logs, as they come, to standard error, and into the file with the time before each line."""
        sys.stderr.write(text)
        if self.file and text.strip():
            stamp = "" if self.log_format == "json" else f"{_now()} "
            self.file.write(f"{stamp}{text.rstrip()}\n")
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""
        sys.stderr.flush()
        if self.file:
            self.file.flush()


OUTPUT = Output()
"""Of this process: it runs one command."""


def direct(*, quiet: bool, log_file: Path | None, log_format: LogFormat) -> None:
    """Follow these options from now on.

    Raises:
        WrongUse: the file cannot be written.
    """
    if OUTPUT.file:
        OUTPUT.file.close()
    OUTPUT.quiet, OUTPUT.log_format, OUTPUT.file = quiet, log_format, None
    if log_file:
        try:
            OUTPUT.file = log_file.open("a", encoding="utf-8", buffering=1)
        except OSError as error:
            raise WrongUse(f"--log-file {log_file}: cannot be written: {error.strerror}") from None


def say(line: str, level: str = "info") -> None:
    """One line on standard error, and in the log file."""
    line = printable(line)
    if OUTPUT.log_format == "json":
        line = json.dumps({"timestamp": _now(), "level": level, "event": line}, ensure_ascii=False)
    OUTPUT.write(f"{line}\n")


def mention(line: str) -> None:
    """The same, of what is as it should be: nothing with `--quiet`."""
    if not OUTPUT.quiet:
        say(line)


def configure_logs(verbosity: int) -> None:
    """What the parts of vetl log goes the same way."""
    from pipelines.jobs import logs  # noqa: PLC0415 - structlog is not needed for `--help`

    logs.configure_logs(verbosity, OUTPUT, as_json=OUTPUT.log_format == "json")  # pyright: ignore[reportArgumentType] - a stream that writes to two


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
