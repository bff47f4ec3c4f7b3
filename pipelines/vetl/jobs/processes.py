"""Sync several shards at a time, each in a process of its own, because a file has one writer."""

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

from vetl.core.errors import (
    ConfigurationError,
    Transient,
    Unreachable,
    VetlError,
    WarehouseBusy,
    WarehouseError,
)
from vetl.core.list_read import Reconcile
from vetl.core.pages import Changes
from vetl.core.results import EndpointResult, Progress, ReportProgress, SyncResult, Waiting
from vetl.settings import Settings

_KINDS = (ConfigurationError, WarehouseBusy, WarehouseError, Unreachable, VetlError)
"""Classes for errors of another process: the first class that fits is raised here."""

_log = structlog.stdlib.get_logger("vetl.jobs")

Report = Progress | Waiting | tuple[str, dict[str, Any]] | None
"""A report of a process: its progress or a line of its log, or `None` at the end."""


@dataclass(frozen=True, slots=True)
class ShardRead:
    """The arguments of the sync of one shard, as in `run_sync`; `settings` are those of the shard."""

    settings: Settings
    practices: tuple[str, ...]
    endpoints: tuple[str, ...]
    since: date | None
    reconcile: Reconcile


Sync = Callable[[ShardRead, ReportProgress], SyncResult]
"""The sync of one shard: a function that another process can import by its name."""


def side_by_side(reads: Sequence[ShardRead], sync: Sync, progress: ReportProgress) -> SyncResult:
    """Sync shards in as many processes as there are cores; return the result for all lists.

    If a shard fails, its lists have failed, unless all shards fail.

    Raises:
        ConfigurationError: the credentials are refused; shards that have not begun are not tried.
        VetlError: all shards failed; this is the error of the first shard.
    """
    if current_process().daemon:
        # A worker of Celery must not start processes, so the shards are read one after another.
        return _combined(reads, [_read_here(sync, read, progress) for read in reads])
    context = get_context("spawn")
    reports: SimpleQueue[Report] = context.SimpleQueue()
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
    return _combined(reads, [outcomes[number] for number in range(len(reads))])


def _read_here(sync: Sync, read: ShardRead, progress: ReportProgress) -> SyncResult | VetlError:
    try:
        return sync(read, progress)
    except ConfigurationError:
        raise
    except VetlError as error:
        return error


def _combined(reads: Sequence[ShardRead], outcomes: Sequence[SyncResult | VetlError]) -> SyncResult:
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
            practice,
            endpoint,
            "failed",
            str(error),
            Changes(),
            0,
            0,
            None,
            retryable=isinstance(error, Transient),
        )
        for practice in read.practices
        for endpoint in read.endpoints
    ]


def _listen(reports: "SimpleQueue[Report]", progress: ReportProgress) -> None:
    while (item := reports.get()) is not None:
        with suppress(Exception):  # a failure of the display must not stop the sync
            if isinstance(item, tuple):
                level, event = item
                getattr(_log, level)(**event)
            else:
                progress(item)


_report: Callable[[Report], None]
"""Sends a report from the process of a shard to its parent."""


def _begin(reports: "SimpleQueue[Report]", log_level: int | None) -> None:
    """Initialize the process of a shard: send its reports and logs to the parent, and end with the parent."""
    global _report  # noqa: PLW0603 - an initializer has no other place
    _report = reports.put

    def forward(_logger: object, method: str, event: MutableMapping[str, Any]) -> Any:  # noqa: ANN401 - structlog's
        # Values are sent as text, because the parent could not unpickle every error.
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
    """Sync a shard; return an error as its class and its text, because not every error can be unpickled."""
    try:
        return sync(read, _report)
    except VetlError as error:
        return next(number for number, kind in enumerate(_KINDS) if kind in type(error).__mro__), str(error)


def _raised_here(outcome: SyncResult | tuple[int, str]) -> SyncResult | VetlError:
    return outcome if isinstance(outcome, SyncResult) else _KINDS[outcome[0]](outcome[1])
