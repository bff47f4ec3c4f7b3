"""A function run in a process of its own, with its cost: wall and CPU seconds, peak memory."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Cost:
    """`cpu` is user and system seconds, children included.

    `peak_mib` is the largest resident set of the process or of one of its children, such as dbt (Linux).
    """

    wall: float
    cpu: float
    peak_mib: float


def measured(function: Callable[..., Any], *arguments: Any) -> Cost:
    """Run a call in a fresh interpreter and return its cost, imports included."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, function, arguments))
    process.start()
    sender.close()  # so that a failed process ends the wait
    cost: Cost = receiver.recv()
    process.join()
    return cost


def _run(sender: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    started = time.perf_counter()
    function(*arguments)
    wall = time.perf_counter() - started
    used, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    # Its own `ru_maxrss` would be wrong: it begins with the value of the parent process.
    peak = max(int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]), others.ru_maxrss)
    sender.send(Cost(wall, used.ru_utime + used.ru_stime + others.ru_utime + others.ru_stime, peak / 1024))
