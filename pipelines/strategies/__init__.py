"""How each kind of list is read without loss: pure generators of `pipelines.steps`, no I/O."""

from collections.abc import Generator
from typing import Any

from pipelines.endpoint import ByReference, DateWindows, FullScan, NewestFirst, Received, UpdatedWindows
from pipelines.errors import WrongUse
from pipelines.steps import Step
from pipelines.strategies import by_reference, date_windows, full_scan, newest_first, updated_windows
from pipelines.strategies.reading import Outcome, Reading


def plan(reading: Reading) -> Generator[Step, Any, Outcome]:
    """The running strategy of an endpoint.

    Raises:
        WrongUse: it has no list.
    """
    match reading.endpoint.strategy:
        case DateWindows() as strategy:
            return date_windows.plan(reading, strategy)
        case UpdatedWindows() as strategy:
            return updated_windows.plan(reading, strategy)
        case NewestFirst() as strategy:
            return newest_first.plan(reading, strategy)
        case FullScan() as strategy:
            return full_scan.plan(reading, strategy)
        case ByReference() as strategy:
            return by_reference.plan(reading, strategy)
        case Received():
            raise WrongUse(f"{reading.endpoint.name} has no list to read: it is received by webhook")
