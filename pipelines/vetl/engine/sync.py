"""One sync: a strategy yields steps for each list, and `engine.runner` performs them and sends the answers back.

The lists of one practice are read concurrently. Lists that are read by id come after the lists that mention the
ids. If a list fails, every other list continues, and the rows that were read before the failure are kept.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import structlog

from vetl.core.endpoint import Endpoint
from vetl.core.errors import RequestRefused, VetlError, WarehouseError, places_of, unforeseen
from vetl.core.list_read import Outcome
from vetl.core.practice import Practice
from vetl.core.results import EndpointResult, SyncResult
from vetl.discovery import identity
from vetl.discovery.examination import ask_for_practice
from vetl.endpoints.phone_calls import PHONE_CALLS
from vetl.engine.gather import gather
from vetl.engine.runner import Run, StepRunner
from vetl.strategies import read_list

_log = structlog.stdlib.get_logger("vetl.engine")


async def sync(run: Run) -> SyncResult:
    """Sync every list of the order. A list that cannot be read is a result, not an exception."""
    turn = asyncio.Semaphore(run.practices_at_once)

    async def one_practice(practice: Practice) -> list[EndpointResult]:
        async with turn:
            return await _sync_practice(run, practice)

    results = await gather(one_practice(practice) for practice in run.order.practices)
    flat = [result for practice in results for result in practice]
    return SyncResult(run.run_id, run.clock, tuple(await _counted(run, flat)))


async def _counted(run: Run, results: Sequence[EndpointResult]) -> list[EndpointResult]:
    """Return the results with the stored rows, counted once for all practices of a list."""
    practices = [practice.id for practice in run.order.practices]
    counts = {
        endpoint.name: await run.writer.ask(run.store.counts, practices, endpoint)
        for endpoint in run.order.endpoints
    }
    none = (0, 0)
    return [
        replace(result, rows=rows, held=held)
        for result in results
        for rows, held in [counts[result.endpoint].get(result.practice_id, none)]
    ]


async def _sync_practice(run: Run, practice: Practice) -> list[EndpointResult]:
    listed = [item for item in run.order.endpoints if item.strategy.has_list]
    referenced = [item for item in run.order.endpoints if not item.strategy.has_list]
    results = await gather(_sync_list(run, practice, endpoint) for endpoint in listed)
    return [*results, *await gather(_sync_list(run, practice, endpoint) for endpoint in referenced)]


async def _unheard(run: Run, practice: Practice) -> Exception | None:
    """Return the error that keeps a practice from being read; `None` if the platform answered for it in this sync.

    If no row mentions a client, no client is requested. Such a sync would not notice a wrong practice id.
    """
    if practice.id not in run.answered and practice.id not in run.failures:
        runner = StepRunner(run, practice, PHONE_CALLS)
        try:
            await runner.drive(ask_for_practice())
        except RequestRefused:
            run.answered.add(practice.id)  # the server refuses every request for a practice that it does not serve
        except VetlError as error:
            run.failures[practice.id] = error
    return None if practice.id in run.answered else run.failures[practice.id]


async def _sync_list(run: Run, practice: Practice, endpoint: Endpoint) -> EndpointResult:
    """Read one list. An error fails this list of this practice and no other.

    Raises:
        BrokenPipeError: the reader of the progress is gone.
    """
    runner = StepRunner(run, practice, endpoint)
    try:
        outcome = await _read_one_list(runner)
        if not endpoint.strategy.has_list and (unheard := await _unheard(run, practice)):
            return runner.failed(unheard)
    except (WarehouseError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - one list must never stop the others
        run.failures.setdefault(practice.id, error)
        return await _failed(runner, error)
    return runner.done(outcome)


async def _failed(runner: StepRunner, error: Exception) -> EndpointResult:
    """Commit the rows of a list that were read before it failed, and return its result."""
    if not isinstance(error, VetlError):
        _log.debug("list_failed", cause=unforeseen(error), places=places_of(error))
    try:
        await runner.buffer.flush()
    except WarehouseError:
        raise
    except Exception as unsaved:  # noqa: BLE001 - as above; the first error is reported
        _log.debug("rows_not_saved", cause=unforeseen(unsaved), places=places_of(unsaved))
    return runner.failed(error)


async def _read_one_list(runner: StepRunner) -> Outcome:
    """Read a list. If it was never read, the plan first checks that its ids are stable."""
    reading = await runner.reading()
    outcome: Outcome = await runner.drive(read_list(reading))
    if reading.cursor and runner.buffer.changes.inserted:
        return await runner.drive(identity.look_last(await runner.reading(), outcome))
    return outcome
