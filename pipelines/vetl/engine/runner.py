"""One sync: a strategy yields steps for each list, which are performed here, and is sent their answers.

The lists of one practice are read concurrently. Lists that are read by id come after the lists that mention the
ids. If a list fails, every other list continues, and the rows that were read before the failure are kept.
"""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import structlog

from vetl.core import errors, list_read, steps
from vetl.core.endpoint import Endpoint
from vetl.core.pages import CallsPage, Page, Row
from vetl.core.zones import Times, zone
from vetl.discovery import identity
from vetl.discovery.conventions import check_page
from vetl.discovery.discover import ask_for_practice
from vetl.endpoints import PHONE_CALLS
from vetl.engine.order import Run
from vetl.engine.writer import ROWS_AT_ONCE, ROWS_OF_ALL_PRACTICES, WriteBuffer, rows_in
from vetl.partner.lookups import gather
from vetl.reading import read_list

A = TypeVar("A")

UNKNOWN_WORDS = (400, 422)
"""Statuses of a list whose query parameters have other names on this server. `vetl doctor` finds those names."""


WHOLE_PAGES = 20
"""Pages with a smaller page size are read for their total or for a proof, not for their rows."""


class ExpectedRows:
    """The sum of the totals of a list's windows, from which a sync reports its progress.

    A window that is read again counts once.
    """

    def __init__(self) -> None:
        self._totals: dict[Hashable, int] = {}

    def note(self, step: steps.ReadPage | steps.ReadCalls, page: Page | CallsPage) -> None:
        """Remember the total of a window from one of its pages."""
        if step.size >= WHOLE_PAGES and not step.lenient:
            window = tuple(sorted((name, str(value)) for name, value in step.query.items() if name != "page"))
            self._totals[window] = page.total_count

    def total(self, read: int) -> int | None:
        """Return the expected rows, at least as many as were `read`; `None` before the first page."""
        return max(read, sum(self._totals.values())) if self._totals else None


class StepRunner:
    """Performs the steps of one list of one practice."""

    def __init__(self, run: Run, practice: list_read.Practice, endpoint: Endpoint) -> None:
        self._run = run
        self._practice = practice
        self._endpoint = endpoint
        self._path = endpoint.path_of(practice.id)
        self._rows_read = 0
        self._oldest = datetime.max.replace(tzinfo=UTC)
        self._expected = ExpectedRows()
        self._times = Times.of(endpoint, run.order.times_without_offset, practice.time_zone)
        self.buffer = WriteBuffer(
            partial(run.writer.commit, practice.id, endpoint),
            partial(run.store.prepared, practice.id, endpoint),
            partial(run.writer.answer, practice.id, endpoint),
            bytes_read=lambda: run.source.traffic(practice.id, self._path).bytes,
            rows_at_once=min(ROWS_AT_ONCE, ROWS_OF_ALL_PRACTICES // run.practices_at_once),
        )

    async def reading(self) -> list_read.Reading:
        """Return the input of the strategy: cursor, capabilities and settings."""
        run, practice, endpoint = self._run, self._practice, self._endpoint
        cursor, capabilities = await run.writer.ask(
            lambda: (
                run.store.cursor(practice.id, endpoint.name),
                run.store.capabilities(practice.id, endpoint.name),
            )
        )
        return list_read.Reading(
            endpoint=endpoint,
            names=run.order.names.get(endpoint.name, endpoint.names),
            now=run.clock.astimezone(UTC),
            time_zone=zone(practice.time_zone),
            history_start=practice.history_start,
            cursor=cursor or {},
            capabilities=capabilities,
            since=run.order.since,
            until=run.order.until,
            margins=run.order.margins,
            details=run.order.details,
            details_budget=run.order.details_budget,
            reconcile=run.order.reconcile,
            times_without_offset=run.order.times_without_offset,
        )

    async def drive(self, running: steps.Plan[A]) -> A:
        """Perform the steps of a plan and return its result. A step's error is raised inside the plan."""
        answer: Any = None
        failure: errors.VetlError | None = None
        while True:
            try:
                step = running.send(answer) if failure is None else running.throw(failure)
            except StopIteration as finished:
                return finished.value
            answer, failure = None, None
            try:
                answer = await self._perform(step)
            except errors.VetlError as error:
                # Traceback and context keep frames, with their rows, until garbage is collected: 120 MiB with
                # twelve practices.
                failure, error.__context__ = error.with_traceback(None), None

    async def _perform(self, step: steps.Step[Any]) -> Any:  # noqa: ANN401 - each step has its own answer
        match step:
            case steps.ReadPage():
                return await self._read_page(step)
            case steps.ReadCalls():
                return await self._read_calls(step)
            case steps.GetRecords():
                return await self._get_records(step)
            case steps.SideBySide():
                return await self._side_by_side(step)
            case steps.Flush():
                return await self.buffer.flush()
            case (
                steps.MergeRows()
                | steps.ReplaceDays()
                | steps.AttachDetails()
                | steps.MissingRecords()
                | steps.MoveCursor()
                | steps.Learnt()
            ):
                return await self._save(step)
            case _:
                assert isinstance(step, steps.Question), step
                return await self.buffer.ask(step)

    async def _read_page(self, step: steps.ReadPage) -> Page:
        check = partial(check_page, step)
        page = await self._run.source.page(
            self._practice.id, self._path, step.query, check=check, divisible=step.divisible
        )
        self._note(step, page)
        return replace(page, rows=tuple(map(self._times.read, page.rows)))

    async def _read_calls(self, step: steps.ReadCalls) -> CallsPage:
        parse = partial(self._run.parse_calls, lenient=step.lenient, days=step.days)
        page = await self._run.source.calls(self._practice.id, step.query, parse=parse, divisible=step.divisible)
        self._note(step, page)
        return page

    def _note(self, step: steps.ReadPage | steps.ReadCalls, page: Page | CallsPage) -> None:
        self._run.answered.add(self._practice.id)
        self._expected.note(step, page)
        self._run.clock = max(self._run.clock, page.server_time)
        self._oldest = min(self._oldest, page.server_time)

    async def _get_records(self, step: steps.GetRecords) -> Mapping[str, Row | errors.VetlError | None]:
        answers = await self._run.source.records(self._practice.id, self._path, step.ids)
        if not all(isinstance(answer, errors.VetlError) for answer in answers.values()):
            self._run.answered.add(self._practice.id)
        return {
            identity: self._times.read(answer) if isinstance(answer, Mapping) else answer
            for identity, answer in answers.items()
        }

    async def _side_by_side(self, step: steps.SideBySide[A]) -> list[A]:
        turn = asyncio.Semaphore(step.at_once)

        async def read(reader: steps.Plan[A]) -> A:
            async with turn:
                return await self.drive(reader)

        return await gather(read(reader) for reader in step.readers)

    async def _save(self, step: steps.Save) -> None:
        await self.buffer.put(step)
        self._rows_read += rows_in(step)
        self._report("reading")

    def _report(self, phase: str, **at_the_end: int) -> None:
        names = (self._practice.id, self._endpoint.name)
        total = self._expected.total(self._rows_read)
        self._run.progress(
            list_read.Progress(*names, done=self._rows_read, total=total, phase=phase, **at_the_end)
        )

    def done(self, outcome: list_read.Outcome) -> list_read.EndpointResult:
        """Return the result of a list that was read to its end.

        It is certified at most through the oldest answer: one from a cache shows the list as it was then.
        """
        state: list_read.State = "certified" if outcome.certified else "uncertified"
        through = outcome.through and min(outcome.through, self._oldest)
        return self._result(state, outcome.reason, through, outcome.notes)

    def failed(self, error: Exception, *, withdrawn: bool = False) -> list_read.EndpointResult:
        """Return the result of a list that could not be read."""
        if withdrawn:
            return self._result("withdrawn", f"{error}; its data is kept", None)
        if not isinstance(error, errors.VetlError):
            return self._result("failed", f"{errors.unforeseen(error)}; -vv shows where it comes from", None)
        hint = (
            "; run `vetl doctor --write`"
            if isinstance(error, errors.RequestRefused) and error.status in UNKNOWN_WORDS
            else ""
        )
        return self._result("failed", f"{error}{hint}", None, retryable=isinstance(error, errors.Transient))

    def _result(
        self,
        state: list_read.State,
        reason: str,
        through: datetime | None,
        notes: tuple[str, ...] = (),
        *,
        retryable: bool = False,
    ) -> list_read.EndpointResult:
        changes = self.buffer.changes
        if changes.restated:
            rows = f"{changes.restated:,} row{'' if changes.restated == 1 else 's'}"
            notes = (*notes, f"the platform changed {rows} after certification; see control.restatements")
        traffic = self._run.source.traffic(self._practice.id, self._path)
        self._report(state, new=changes.inserted, changed=changes.updated, requests=traffic.requests)
        return list_read.EndpointResult(
            practice_id=self._practice.id,
            endpoint=self._endpoint.name,
            state=state,
            reason=reason,
            changes=changes,
            rows=0,
            requests=traffic.requests,
            retries=traffic.retries,
            bytes=traffic.bytes,
            certified_through=through,
            notes=(*notes, *self._times.notes, *changes.drift),
            retryable=retryable,
        )


_log = structlog.stdlib.get_logger("vetl.engine")


async def sync(run: Run) -> list_read.SyncResult:
    """Sync every list of the order. A list that cannot be read is a result, not an exception."""
    turn = asyncio.Semaphore(run.practices_at_once)
    results = await gather(_sync_practice(run, practice, turn) for practice in run.order.practices)
    flat = [result for practice in results for result in practice]
    return list_read.SyncResult(run.run_id, run.clock, tuple(await _counted(run, flat)))


async def _counted(run: Run, results: Sequence[list_read.EndpointResult]) -> list[list_read.EndpointResult]:
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


async def _sync_practice(
    run: Run, practice: list_read.Practice, turn: asyncio.Semaphore
) -> list[list_read.EndpointResult]:
    listed = [item for item in run.order.endpoints if item.strategy.has_list]
    referenced = [item for item in run.order.endpoints if not item.strategy.has_list]
    async with turn:
        results = await gather(_sync_list(run, practice, endpoint) for endpoint in listed)
        return [*results, *await gather(_sync_list(run, practice, endpoint) for endpoint in referenced)]


async def _unheard(run: Run, practice: list_read.Practice) -> Exception | None:
    """Return the error that keeps a practice from being read; `None` if the platform answered for it in this sync.

    If no row mentions a client, no client is requested. Such a sync would not notice a wrong practice id.
    """
    if practice.id not in run.answered and practice.id not in run.failures:
        runner = StepRunner(run, practice, PHONE_CALLS)
        try:
            await runner.drive(ask_for_practice())
        except errors.RequestRefused:
            run.answered.add(practice.id)  # the server refuses every request for a practice that it does not serve
        except errors.VetlError as error:
            run.failures[practice.id] = error
    return None if practice.id in run.answered else run.failures[practice.id]


async def _sync_list(run: Run, practice: list_read.Practice, endpoint: Endpoint) -> list_read.EndpointResult:
    """Read one list. An error fails this list of this practice and no other.

    Raise `BrokenPipeError` if the reader of the progress is gone.
    """
    runner = StepRunner(run, practice, endpoint)
    try:
        outcome = await _read_one_list(runner)
        if not endpoint.strategy.has_list and (unheard := await _unheard(run, practice)):
            return runner.failed(unheard)
    except (errors.WarehouseError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - one list must never stop the others
        withdrawn = await _is_withdrawn(run, practice, endpoint, error)
        if not withdrawn:
            run.failures.setdefault(practice.id, error)
        return await _failed(runner, error, withdrawn=withdrawn)
    return runner.done(outcome)


async def _is_withdrawn(run: Run, practice: list_read.Practice, endpoint: Endpoint, error: Exception) -> bool:
    """Return whether a proposed list does not exist, or this account may not read it.

    Some gateways answer 403 to a path that does not exist; it is about the list if the practice is answered.
    """
    if not endpoint.may_be_withdrawn or isinstance(error, errors.NotFound):
        return endpoint.may_be_withdrawn
    is_forbidden = isinstance(error, errors.PracticeRefused) and error.status == HTTPStatus.FORBIDDEN
    return is_forbidden and await _unheard(run, practice) is None


async def _failed(runner: StepRunner, error: Exception, *, withdrawn: bool) -> list_read.EndpointResult:
    """Commit the rows of a list that were read before it failed, and return its result."""
    if not isinstance(error, errors.VetlError):
        _log.debug("list_failed", cause=errors.unforeseen(error), places=errors.places_of(error))
    try:
        await runner.buffer.flush()
    except errors.WarehouseError:
        raise
    except Exception as unsaved:  # noqa: BLE001 - as above; the first error is reported
        _log.debug("rows_not_saved", cause=errors.unforeseen(unsaved), places=errors.places_of(unsaved))
    return runner.failed(error, withdrawn=withdrawn)


async def _read_one_list(runner: StepRunner) -> list_read.Outcome:
    """Read a list. If it was never read, the plan first checks that its ids are stable."""
    reading = await runner.reading()
    outcome: list_read.Outcome = await runner.drive(read_list(reading))
    if reading.cursor and runner.buffer.changes.inserted:
        return await runner.drive(identity.look_last(await runner.reading(), outcome))
    return outcome
