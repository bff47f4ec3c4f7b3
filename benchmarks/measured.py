"""A function run in a process of its own, with what it cost: wall and CPU seconds, peak memory."""

import multiprocessing
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Cost:
    """`cpu` is user and system seconds of the process; `peak_mib` its largest resident set."""

    wall: float
    cpu: float
    peak_mib: float


def measured(function: Callable[..., Any], *arguments: Any) -> Cost:
    """What one call costs in a fresh interpreter, imports included."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(sender, function, arguments))
    process.start()
    sender.close()  # so that a process that fails ends the wait
    cost: Cost = receiver.recv()
    process.join()
    return cost


def _run(sender: Any, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    started = time.perf_counter()
    function(*arguments)
    wall = time.perf_counter() - started
    used = resource.getrusage(resource.RUSAGE_SELF)
    sender.send(Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
