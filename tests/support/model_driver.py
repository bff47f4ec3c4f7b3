"""Performs plans with a model source and a model store, as `engine.runner` does with the real ones.

`paged` and `ranged` are what a sync may know about a list, as `control.capabilities` keeps it.
"""

from collections.abc import Generator
from datetime import date
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from vetl.core.endpoint import Endpoint
from vetl.core.errors import VetlError
from vetl.core.list_read import Outcome, Parameter, Reading, Result
from vetl.core.pages import Changes
from vetl.core.steps import (
    AttachDetails,
    Flush,
    GetRecords,
    Learnt,
    MergeRows,
    MissingRecords,
    MoveCursor,
    Plan,
    ReadCalls,
    ReadPage,
    ReplaceDays,
    SideBySide,
    Step,
)
from vetl.endpoints import by_name
from vetl.reading import read_list

Fiber = Generator[None, None, Any]


class Killed(Exception):
    """The process ends here; a source raises this at any point of its work."""


class Driver:
    """Interleaves side-by-side readers at random. Waiting saves are committed at the end, or at a failure."""

    def __init__(self, source: Any, store: Any, rng: Random) -> None:
        self.source = source
        self.store = store
        self.rng = rng

    def run(self, running: Plan[Any]) -> Any:
        fiber = self._fiber(running)
        while True:
            try:
                next(fiber)
            except StopIteration as finished:
                self.store.flush()
                return finished.value
            except VetlError:
                self.store.flush()
                raise
            except Killed:
                self.store.lose()
                raise

    def _fiber(self, running: Plan[Any]) -> Fiber:
        answer, failure = None, None
        while True:
            try:
                step = running.send(answer) if failure is None else running.throw(failure)
            except StopIteration as finished:
                return finished.value
            answer, failure = None, None
            yield
            try:
                if isinstance(step, SideBySide):
                    answer = yield from self._interleaved([self._fiber(reader) for reader in step.readers])
                else:
                    answer = self._perform(step)
            except VetlError as error:
                failure = error

    def _interleaved(self, fibers: list[Fiber]) -> Generator[None, None, list[Any]]:
        results: list[Any] = [None] * len(fibers)
        alive = list(range(len(fibers)))
        while alive:
            chosen = self.rng.choice(alive)
            try:
                next(fibers[chosen])
            except StopIteration as finished:
                results[chosen] = finished.value
                alive.remove(chosen)
            yield
        return results

    def _perform(self, step: Step[Any]) -> Any:
        match step:
            case ReadPage():
                return self.source.page(step)
            case ReadCalls():
                return self.source.read_calls(step)
            case GetRecords():
                return {identity: self.source.record(identity) for identity in step.ids}
            case Flush():
                self.store.flush()
                return Changes()
            case MergeRows() | ReplaceDays() | AttachDetails() | MoveCursor() | Learnt() | MissingRecords():
                return self.store.put(step)
            case question:
                return self.store.answer(question)


def reading_of(endpoint: Endpoint, source: Any, store: Any, **given: Any) -> Reading:
    """Return the facts that a strategy gets before it reads a list; `given` differs from the usual."""
    usual: dict[str, Any] = {
        "names": endpoint.names,
        "now": source.now,
        "time_zone": ZoneInfo("America/New_York"),
        "history_start": date(2026, 2, 15),
        "cursor": dict(store.cursor),
        "capabilities": dict(store.capabilities),
    }
    return Reading(endpoint=endpoint, **usual | given)


def sync(endpoint: Endpoint, source: Any, store: Any, **given: Any) -> Outcome:
    return Driver(source, store, source.rng).run(read_list(reading_of(endpoint, source, store, **given)))


def sync_whole(endpoint: Endpoint, source: Any, store: Any, **given: Any) -> Outcome:
    """Run a sync that must certify the list and bring every row."""
    outcome = sync(endpoint, source, store, **given)
    assert outcome.certified, outcome.reason
    assert store.rows == source.rows
    return outcome


def each_list(*names: str) -> pytest.MarkDecorator:
    """Run a test for each of these lists: its parameter is `endpoint`."""
    return pytest.mark.parametrize("endpoint", [by_name(name) for name in names], ids=names)


def paged(base: int = 0, size: int = 4, name: str = "page") -> dict[str, Any]:
    """Return pages from `base` on, of at most `size` rows, under this name of the page number."""
    number = Parameter(name=name, configured="page", result=Result.HONOURED, base=base)
    rows = Parameter(name="per_page", configured="per_page", result=Result.HONOURED, size=size)
    return {"page": number.model_dump(mode="json"), "per_page": rows.model_dump(mode="json")}


def ranged() -> dict[str, Any]:
    """Return a date range that works, to the second, under the default names."""
    start = Parameter(name="start_date", configured="start_date", result=Result.HONOURED, bounds="instant")
    end = Parameter(name="end_date", configured="end_date", result=Result.HONOURED)
    return {"start": start.model_dump(mode="json"), "end": end.model_dump(mode="json")}
