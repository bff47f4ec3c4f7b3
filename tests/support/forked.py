"""Processes of tests, forked from one that has imported vetl: each starts in milliseconds and is impatient."""

import multiprocessing
import os
import sys
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(
    [
        *("support.quiet_end", "support.impatient", "support.concurrent_commands", "support.forgetting"),
        *(f"vetl.cli.{name}" for name in ("forget", "quarantine", "reconcile", "run", "webhooks")),
        *("vetl.addons.act.job", "vetl.addons.lake.command", "vetl.jobs.backups", "vetl.jobs.sync"),
    ]
)


def start(target: Callable[..., object], *arguments: object) -> BaseProcess:
    """Start a function in a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        # Python 3.11 looks for these modules on the path of a new interpreter, and is silent if it finds none.
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        forkserver.ensure_running()
    process = _PROCESSES.Process(target=target, args=arguments)
    process.start()
    return process


def memory(name: str) -> int:
    """Return the memory of this process in MiB: `VmRSS` at present, `VmHWM` at most so far."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) // 1024
