"""How each kind of list is read without loss: pure generators of `pipelines.steps`, no I/O."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from pipelines.endpoint import ByReference, DateWindows, FullScan, NewestFirst, Received, UpdatedWindows
from pipelines.errors import PracticeRefused, RequestRefused, WrongUse
from pipelines.steps import Step
from pipelines.strategies import by_reference, date_windows, full_scan, newest_first, updated_windows
from pipelines.strategies.learning import learn_paging_anew
from pipelines.strategies.reading import Outcome, Reading


def plan(reading: Reading) -> Generator[Step, Any, Outcome]:
    """The running strategy of an endpoint.

    Where a list cannot be certified, or is refused, although its paging was known, that knowledge is doubted: it
    may have been gained while the list moved. It is gained again, and if it differs, the list is read again.

    Raises:
        RequestRefused: the server will not give the list in any form.
        WrongUse: it has no list.
    """
    try:
        outcome = yield from _running(reading)
        if outcome.certified:
            return outcome
    except PracticeRefused:
        raise
    except RequestRefused:
        doubted = yield from _learnt_anew(reading)
        if doubted is None:
            raise
    else:
        doubted = yield from _learnt_anew(reading)
        if doubted is None:
            return outcome
    return (yield from _running(doubted))


def _learnt_anew(reading: Reading) -> Generator[Step, Any, Reading | None]:
    """The reading with its paging learnt again; `None` where that tells nothing new."""
    if reading.capabilities.get("page_base") is None:
        return None
    known = yield from learn_paging_anew(reading)
    return None if known == reading.capabilities else replace(reading, capabilities=known)


def _running(reading: Reading) -> Generator[Step, Any, Outcome]:
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
