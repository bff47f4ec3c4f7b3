"""Performing the steps of a strategy, for one list of one practice.

Client and warehouse are protocols here, so this module is read and tested without either of them.
"""

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, TypeVar

from vetl.core.endpoint import Endpoint, QueryNames
from vetl.core.errors import NotFound, RequestRefused, Transient, VetlError, unforeseen
from vetl.core.list_read import Details, Margins, Outcome, Reading, Reconcile
from vetl.core.pages import CallsPage, Page, Row
from vetl.core.practice import Practice
from vetl.core.results import EndpointResult, Progress, ReportProgress, State
from vetl.core.steps import (
    AttachDetails,
    Flush,
    GetRecords,
    Learnt,
    MergeRows,
    MissingRecords,
    MoveCursor,
    Plan,
    Question,
    ReadCalls,
    ReadPage,
    ReplaceDays,
    Save,
    SideBySide,
    Step,
)
from vetl.core.zones import zone
from vetl.engine.gather import gather, rows_by_id
from vetl.engine.protocols import CsvParser, Source, Store
from vetl.engine.write_buffer import ROWS_AT_ONCE, ROWS_OF_ALL_PRACTICES, WriteBuffer, rows_in
from vetl.engine.writer import Writer
from vetl.reading.conventions import check_page

A = TypeVar("A")

PRACTICES_AT_ONCE = 32
"""More practices share each statement of the writer if more of them wait for it. With 12 at once, a sync of
a scheduled tick costs a third more."""

UNKNOWN_ID = (400, 404, 410, 422)
"""Statuses with which a server may answer a request for an unknown id. The contract does not show which one."""

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

    def note(self, step: ReadPage | ReadCalls, page: Page | CallsPage) -> None:
        """Remember the total of a window from one of its pages."""
        if step.size >= WHOLE_PAGES and not step.lenient:
            window = tuple(sorted((name, str(value)) for name, value in step.query.items() if name != "page"))
            self._totals[window] = page.total_count

    def total(self, read: int) -> int | None:
        """Return the expected rows, at least as many as were `read`; `None` before the first page."""
        return max(read, sum(self._totals.values())) if self._totals else None


@dataclass(frozen=True, slots=True)
class Order:
    """The practices and lists to sync, with the settings. `names`: query parameters by the name of the list."""

    practices: Sequence[Practice]
    endpoints: Sequence[Endpoint]
    names: Mapping[str, QueryNames]
    since: date | None = None
    margins: Margins = field(default_factory=Margins)
    details: Details = "recent"
    details_budget: int = 2000
    reconcile: Reconcile = "no"


@dataclass(slots=True)
class Run:
    """A sync that is running. `clock` is the latest `Date` header of the source."""

    run_id: str
    order: Order
    source: Source
    store: Store
    parse_calls: CsvParser
    clock: datetime
    progress: ReportProgress
    writer: Writer = field(init=False)
    answered: set[str] = field(default_factory=set[str])
    """Practices for which at least one request of this sync was answered."""
    failures: dict[str, Exception] = field(default_factory=dict[str, Exception])
    """The first error of each practice, by its id, if one of its lists failed in this sync."""

    def __post_init__(self) -> None:
        self.writer = Writer(self.run_id, self.store)

    @property
    def practices_at_once(self) -> int:
        """Return how many practices are read concurrently."""
        return max(1, min(PRACTICES_AT_ONCE, len(self.order.practices)))


class StepRunner:
    """Performs the steps of one list of one practice."""

    def __init__(self, run: Run, practice: Practice, endpoint: Endpoint) -> None:
        self._run = run
        self._practice = practice
        self._endpoint = endpoint
        self._path = endpoint.path_of(practice.id)
        self._rows_read = 0
        self._expected = ExpectedRows()
        self.buffer = WriteBuffer(
            partial(run.writer.commit, practice.id, endpoint),
            partial(run.store.prepared, practice.id, endpoint),
            partial(run.writer.answer, practice.id, endpoint),
            bytes_read=lambda: run.source.traffic(practice.id, self._path).bytes,
            rows_at_once=min(ROWS_AT_ONCE, ROWS_OF_ALL_PRACTICES // run.practices_at_once),
        )

    async def reading(self) -> Reading:
        """Return the input of the strategy: cursor, capabilities and settings."""
        run, practice, endpoint = self._run, self._practice, self._endpoint
        cursor, capabilities = await run.writer.ask(
            lambda: (
                run.store.cursor(practice.id, endpoint.name),
                run.store.capabilities(practice.id, endpoint.name),
            )
        )
        return Reading(
            endpoint=endpoint,
            names=run.order.names.get(endpoint.name, endpoint.names),
            now=run.clock.astimezone(UTC),
            time_zone=zone(practice.time_zone),
            history_start=practice.history_start,
            cursor=cursor or {},
            capabilities=capabilities,
            since=run.order.since,
            margins=run.order.margins,
            details=run.order.details,
            details_budget=run.order.details_budget,
            reconcile=run.order.reconcile,
        )

    async def drive(self, running: Plan[A]) -> A:
        """Perform the steps of a plan and return its result. A step's error is raised inside the plan."""
        answer: Any = None
        failure: VetlError | None = None
        while True:
            try:
                step = running.send(answer) if failure is None else running.throw(failure)
            except StopIteration as finished:
                return finished.value
            answer, failure = None, None
            try:
                answer = await self._perform(step)
            except VetlError as error:
                # Traceback and context keep frames, with their rows, until garbage is collected: 120 MiB with
                # twelve practices.
                failure, error.__context__ = error.with_traceback(None), None

    async def _perform(self, step: Step[Any]) -> Any:  # noqa: ANN401 - each step has its own answer
        match step:
            case ReadPage():
                return await self._read_page(step)
            case ReadCalls():
                return await self._read_calls(step)
            case GetRecords():
                return await rows_by_id(step.ids, self._get_record)
            case SideBySide():
                return await self._side_by_side(step)
            case Flush():
                return await self.buffer.flush()
            case MergeRows() | ReplaceDays() | AttachDetails() | MissingRecords() | MoveCursor() | Learnt():
                return await self._save(step)
            case _:
                assert isinstance(step, Question), step
                return await self.buffer.ask(step)

    async def _read_page(self, step: ReadPage) -> Page:
        check = partial(check_page, step)
        page = await self._run.source.page(self._practice.id, self._path, step.query, check=check)
        self._note(step, page)
        return page

    async def _read_calls(self, step: ReadCalls) -> CallsPage:
        parse = partial(self._run.parse_calls, lenient=step.lenient, days=step.days)
        page = await self._run.source.calls(self._practice.id, step.query, parse=parse)
        self._note(step, page)
        return page

    def _note(self, step: ReadPage | ReadCalls, page: Page | CallsPage) -> None:
        self._run.answered.add(self._practice.id)
        self._expected.note(step, page)
        self._run.clock = max(self._run.clock, page.server_time)

    async def _get_record(self, identity: str) -> Row | None:
        """Return one row, `None` if the source refuses to look up its id: the rest of the list is still read."""
        try:
            row = await self._run.source.record(self._practice.id, self._path, identity)
        except RequestRefused as error:
            if error.status not in UNKNOWN_ID:
                raise
            row = None
        self._run.answered.add(self._practice.id)
        return row

    async def _side_by_side(self, step: SideBySide[A]) -> list[A]:
        turn = asyncio.Semaphore(step.at_once)

        async def read(reader: Plan[A]) -> A:
            async with turn:
                return await self.drive(reader)

        return await gather(read(reader) for reader in step.readers)

    async def _save(self, step: Save) -> None:
        await self.buffer.put(step)
        self._rows_read += rows_in(step)
        self._report("reading")

    def _report(self, phase: str, **at_the_end: int) -> None:
        names = (self._practice.id, self._endpoint.name)
        total = self._expected.total(self._rows_read)
        self._run.progress(Progress(*names, done=self._rows_read, total=total, phase=phase, **at_the_end))

    def done(self, outcome: Outcome) -> EndpointResult:
        """Return the result of a list that was read to its end."""
        state: State = "certified" if outcome.certified else "uncertified"
        return self._result(state, outcome.reason, outcome.through, outcome.notes)

    def failed(self, error: Exception) -> EndpointResult:
        """Return the result of a list that could not be read; "withdrawn" if a proposed list does not exist."""
        if not isinstance(error, VetlError):
            return self._result("failed", f"{unforeseen(error)}; -vv shows where it comes from", None)
        if isinstance(error, NotFound) and self._endpoint.may_be_withdrawn:
            return self._result("withdrawn", f"{error}; its data is kept", None)
        hint = (
            "; run `vetl doctor --write`"
            if isinstance(error, RequestRefused) and error.status in UNKNOWN_WORDS
            else ""
        )
        return self._result("failed", f"{error}{hint}", None, retryable=isinstance(error, Transient))

    def _result(
        self,
        state: State,
        reason: str,
        through: datetime | None,
        notes: tuple[str, ...] = (),
        *,
        retryable: bool = False,
    ) -> EndpointResult:
        changes = self.buffer.changes
        if changes.restated:
            rows = f"{changes.restated:,} row{'' if changes.restated == 1 else 's'}"
            notes = (*notes, f"the platform changed {rows} after certification; see control.restatements")
        traffic = self._run.source.traffic(self._practice.id, self._path)
        self._report(state, new=changes.inserted, changed=changes.updated, requests=traffic.requests)
        return EndpointResult(
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
            notes=(*notes, *changes.drift),
            retryable=retryable,
        )
