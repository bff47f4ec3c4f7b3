"""Commands of vetl that run at the same time, each in a process of its own, which may be killed in the middle."""

import os
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from support import forked, warm_dbt
from support.mart_builds import untested
from vetl import bundled
from vetl.cli import app
from vetl.cli.app import execute
from vetl.jobs import dbt_process

KILLED = -9
"""The exit code of a process that SIGKILL ended."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line of vetl, the second at which it starts, and the second at which it is killed, if it is."""

    arguments: tuple[str, ...]
    starts: float = 0.0
    killed: float | None = None
    patience: float = 600
    """How long the command waits for others (`lock_wait_seconds`)."""


@dataclass(frozen=True, slots=True)
class Ended:
    command: Command
    exit_code: int
    said: str
    """Its standard output and standard error."""


def overlap(
    commands: Sequence[Command], folder: Path, environment: Mapping[str, str], project: Path
) -> list[Ended]:
    """Run commands of one folder side by side, with this dbt project, and return how each ended."""
    begun = time.monotonic()
    moments: list[tuple[float, int, bool]] = []
    for number, command in enumerate(commands):
        moments.append((command.starts, number, True))
        if command.killed is not None:
            moments.append((command.killed, number, False))
    running: dict[int, BaseProcess] = {}
    for moment, number, starts in sorted(moments):
        _wait_until(begun + moment, list(running.values()))
        if starts:
            running[number] = _start(commands[number], folder, environment, project, number)
        else:
            running[number].kill()
    for process in running.values():
        process.join()
    return [
        Ended(command, running[number].exitcode or 0, (folder / f"said.{number}").read_text("utf-8"))
        for number, command in enumerate(commands)
    ]


def _wait_until(moment: float, running: Sequence[BaseProcess]) -> None:
    while (left := moment - time.monotonic()) > 0 and any(process.is_alive() for process in running):
        next(process for process in running if process.is_alive()).join(left)


def _start(
    command: Command, folder: Path, environment: Mapping[str, str], project: Path, number: int
) -> BaseProcess:
    own = {
        **environment,
        warm_dbt.ADDRESS: os.environ[warm_dbt.ADDRESS],
        "VETL_WAREHOUSE__LOCK_WAIT_SECONDS": str(command.patience),
    }
    return started(command.arguments, folder / f"said.{number}", folder, own, project)


def started(
    arguments: Sequence[str],
    said: Path,
    folder: Path,
    environment: Mapping[str, str],
    project: Path,
    *,
    full_at: int | None = None,
) -> BaseProcess:
    """Start a command, which leads its own group of processes and says everything in a file.

    With `full_at`, the disk is full for files of so many bytes.
    """
    said.write_text("", "utf-8")
    return forked.start(_run, arguments, said, folder, environment, project, full_at)


def _run(
    arguments: Sequence[str],
    said: Path,
    folder: Path,
    environment: Mapping[str, str],
    project: Path,
    full_at: int | None,
) -> None:
    """Run the command in this process, as a shell would."""
    os.setsid()
    os.chdir(folder)
    for name in [name for name in os.environ if name.startswith("VETL_")]:
        del os.environ[name]
    os.environ.update(environment)
    if full_at is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (full_at, full_at))
    output = os.open(said, os.O_WRONLY)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
    dbt_process.COMMAND = warm_dbt.command()
    bundled.dbt_project = lambda: project
    app.prepare()
    with untested():
        code = execute(arguments)
    sys.stdout.flush()
    os._exit(code)
