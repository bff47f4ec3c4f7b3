"""Shards that are read at the same time, each in a process of its own: a file has one writer."""

import os
from collections.abc import Callable, MutableMapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from multiprocessing import active_children, current_process, get_context, parent_process
from multiprocessing.queues import SimpleQueue
from threading import Thread
from typing import Any

import structlog

from pipelines.core.errors import (
    ConfigurationError,
    Transient,
    Unreachable,
    VetlError,
    WarehouseBusy,
    WarehouseError,
)
from pipelines.core.list_read import Reconcile
from pipelines.core.pages import Changes
from pipelines.core.results import EndpointResult, Progress, ReportProgress, SyncResult, Waiting
from pipelines.settings import Settings

_KINDS = (ConfigurationError, WarehouseBusy, WarehouseError, Unreachable, VetlError)
"""What an error of another process is raised as here: the first kind that it is of."""

_log = structlog.stdlib.get_logger("vetl.jobs")

Told = Progress | Waiting | tuple[str, dict[str, Any]] | None
"""What a process tells: how far it is, or a line of its log; nothing at the end of all."""


@dataclass(frozen=True, slots=True)
class ShardRead:
    """What is read of one shard: see `run_sync`. `settings` are the shard's."""

    settings: Settings
    practices: tuple[str, ...]
    endpoints: tuple[str, ...]
    since: date | None
    reconcile: Reconcile


Sync = Callable[[ShardRead, ReportProgress], SyncResult]
"""Reads one shard; a function that another process can import by its name."""


def side_by_side(reads: Sequence[ShardRead], sync: Sync, progress: ReportProgress) -> SyncResult:
    """Read shards in as many processes as there are cores; tell what became of all lists.

    A shard of which nothing could be read fails its own lists, unless all fail alike.

    Raises:
        ConfigurationError: the credentials are refused; shards that have not begun are not tried.
        VetlError: no shard could be read; this is what the first one met.
    """
    if current_process().daemon:
        # A worker of Celery may start no processes: one shard after the other.
        return _together(reads, [_read_here(sync, read, progress) for read in reads])
    context = get_context("spawn")
    reports: SimpleQueue[Told] = context.SimpleQueue()
    listener = Thread(target=_listen, args=(reports, progress), daemon=True)
    listener.start()
    outcomes: dict[int, SyncResult | VetlError] = {}
    try:
        with ProcessPoolExecutor(
            min(len(reads), os.cpu_count() or 1),
            mp_context=context,
            initializer=_begin,
            initargs=(reports, _log.get_effective_level() if structlog.is_configured() else None),
        ) as pool:
            futures = {pool.submit(_outcome, sync, read): number for number, read in enumerate(reads)}
            try:
                for future in as_completed(futures):
                    outcomes[futures[future]] = outcome = _raised_here(future.result())
                    if isinstance(outcome, ConfigurationError):
                        break  # what refuses the credentials once would lock the account in the end
            except BaseException:
                for process in active_children():
                    process.terminate()  # what is not committed is rolled back
                raise
            pool.shutdown(cancel_futures=True)
    finally:
        reports.put(None)
        listener.join()
    for outcome in outcomes.values():
        if isinstance(outcome, ConfigurationError):
            raise outcome
    return _together(reads, [outcomes[number] for number in range(len(reads))])


def _read_here(sync: Sync, read: ShardRead, progress: ReportProgress) -> SyncResult | VetlError:
    try:
        return sync(read, progress)
    except ConfigurationError:
        raise
    except VetlError as error:
        return error


def _together(reads: Sequence[ShardRead], outcomes: Sequence[SyncResult | VetlError]) -> SyncResult:
    done = [outcome for outcome in outcomes if isinstance(outcome, SyncResult)]
    if not done and isinstance(outcomes[0], VetlError):
        raise outcomes[0]
    results = [
        result
        for read, outcome in zip(reads, outcomes, strict=True)
        for result in (_failed(read, outcome) if isinstance(outcome, VetlError) else outcome.results)
    ]
    clocks = [result.source_clock for result in done if result.source_clock]
    return SyncResult(
        run_id=",".join(result.run_id for result in done),
        source_clock=max(clocks, default=None),
        results=tuple(results),
        sign_ins=sum(result.sign_ins for result in done),
        doubts=tuple(dict.fromkeys(line for result in done for line in result.doubts)),
        notes=tuple(dict.fromkeys(line for result in done for line in result.notes)),
    )


def _failed(read: ShardRead, error: VetlError) -> list[EndpointResult]:
    return [
        EndpointResult(
            *(practice, endpoint, "failed", str(error), Changes(), 0, 0, None),
            retryable=isinstance(error, Transient),
        )
        for practice in read.practices
        for endpoint in read.endpoints
    ]


def _listen(reports: "SimpleQueue[Told]", progress: ReportProgress) -> None:
    while (item := reports.get()) is not None:
        with suppress(Exception):  # what cannot be shown must not hold up who tells it
            if isinstance(item, tuple):
                level, event = item
                getattr(_log, level)(**event)
            else:
                progress(item)


_tell: Callable[[Told], None]
"""In a process of a shard: the way to the one that has started it."""


def _begin(reports: "SimpleQueue[Told]", log_level: int | None) -> None:
    """What a process of a shard does first. It ends with the one that has started it, whatever ends that."""
    global _tell  # noqa: PLW0603 - an initializer has no other place
    _tell = reports.put

    def forward(_logger: object, method: str, event: MutableMapping[str, Any]) -> Any:  # noqa: ANN401 - structlog's
        # As texts: an error could not be made anew by the one who reads it.
        reports.put(
            (
                method,
                {key: value if isinstance(value, int | float) else str(value) for key, value in event.items()},
            )
        )
        raise structlog.DropEvent

    if log_level is not None:
        structlog.configure(processors=[forward], wrapper_class=structlog.make_filtering_bound_logger(log_level))
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent:
        parent.join()
        os._exit(1)


def _outcome(sync: Sync, read: ShardRead) -> SyncResult | tuple[int, str]:
    """An error as its kind and its text: some cannot be made anew from their text alone."""
    try:
        return sync(read, _tell)
    except VetlError as error:
        return next(number for number, kind in enumerate(_KINDS) if kind in type(error).__mro__), str(error)


def _raised_here(outcome: SyncResult | tuple[int, str]) -> SyncResult | VetlError:
    return outcome if isinstance(outcome, SyncResult) else _KINDS[outcome[0]](outcome[1])
