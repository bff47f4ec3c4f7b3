"""Commands of vetl that run at the same time, each in a process of its own, which may be killed in the middle.

The processes are forked from one that has imported vetl: a command starts in milliseconds, not in a second.
"""

import multiprocessing
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from support import warm_dbt
from support.mart_builds import untested
from vetl import bundled
from vetl.cli import app
from vetl.cli.app import execute
from vetl.jobs import dbt_process

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    [
        "support.quiet_end",
        "support.impatient",
        "support.concurrent_commands",
        *(f"vetl.cli.{name}" for name in ("forget", "quarantine", "reconcile", "run", "webhooks")),
        "vetl.addons.lake.command",
        "vetl.jobs.drain",
    ]
)

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
    said = folder / f"said.{number}"
    said.write_text("", "utf-8")
    process = processes.Process(target=_run, args=(command.arguments, folder, own, project, said))
    process.start()
    return process


def _run(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], project: Path, said: Path
) -> None:
    """Run the command in this process, as a shell would."""
    os.chdir(folder)
    os.environ.update(environment)
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
