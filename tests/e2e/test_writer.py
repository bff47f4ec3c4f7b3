"""The one writer of a sync: lists share transactions, and nothing else."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, date, datetime
from functools import partial
from typing import Any, cast

import pytest
from hypothesis import given, strategies as st
from vetl.core.errors import ContractBroken, WarehouseError
from vetl.core.pages import Certificate, Changes, Window, WindowKind
from vetl.core.steps import MergeRows, MoveCursor, Question, ReplaceDays, Save
from vetl.endpoints import REGISTRY
from vetl.engine.writer import BYTES_A_ROW, ListQuestion, Store, Work, WriteBuffer, Writer, rows_in

TASKS = REGISTRY[0]
START = datetime(2026, 11, 21, tzinfo=UTC)


async def nothing_is_asked(_question: Question) -> None:
    raise AssertionError


class SlowStore:
    """Records the lists of each transaction; the first ends after `go_on` is set. Saves of some practices fail."""

    def __init__(self, **faults: Exception) -> None:
        self.transactions: list[list[str]] = []
        self.begun, self.go_on = threading.Event(), threading.Event()
        self._faults = faults

    def answer_all(self, list_questions: Sequence[ListQuestion]) -> list[Any]:
        return [(practice_id, list(self.transactions)) for practice_id, _, _ in list_questions]

    def commit_all(self, run_id: str, works: Sequence[Work]) -> list[Changes]:
        assert run_id == "run"
        self.begun.set()
        assert self.go_on.wait(60)
        names = [practice_id for practice_id, _, _ in works]
        for name in names:
            if name in self._faults:
                raise self._faults[name]
        self.transactions.append(names)
        return [Changes(inserted=int(name[1:])) for name in names]


def commits(store: SlowStore, *names: str) -> list[Any]:
    """Return the answers to one commit of each practice; all but the first wait for the first."""

    async def scene() -> list[Any]:
        writer = Writer("run", cast("Store", store))

        def commit(name: str) -> asyncio.Task[Changes]:
            return asyncio.create_task(writer.commit(name, TASKS, [MoveCursor({"through": name})]))

        first = commit(names[0])
        await asyncio.to_thread(store.begun.wait, 10)
        others = [commit(name) for name in names[1:]]
        await asyncio.sleep(0)
        store.go_on.set()
        return await asyncio.gather(first, *others, return_exceptions=True)

    return asyncio.run(scene())


BROKEN, FULL = ContractBroken("other days came"), WarehouseError("the disk is full")


@pytest.mark.parametrize(
    ("faults", "answers", "transactions"),
    [
        ({}, [1, 2, 3], [["p1"], ["p2", "p3"]]),
        ({"p2": BROKEN}, [1, BROKEN, 3], [["p1"], ["p3"]]),
        ({"p3": FULL}, [1, FULL, FULL], [["p1"]]),
    ],
    ids=["saves that wait share the next", "a list keeps no other out", "a warehouse is everybody's failure"],
)
def test_lists_share_transactions_and_only_failures_of_the_warehouse(
    faults: dict[str, Exception], answers: list[Any], transactions: list[list[str]]
) -> None:
    store = SlowStore(**faults)

    found = commits(store, "p1", "p2", "p3")

    assert [one.inserted if isinstance(one, Changes) else one for one in found] == answers
    assert store.transactions == transactions


def buffer_of(commit: Any, rows_at_once: int, bytes_read: Callable[[], int] = lambda: 0) -> Any:
    return WriteBuffer(commit, list, nothing_is_asked, bytes_read=bytes_read, rows_at_once=rows_at_once)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 30_000))))
def test_a_commit_is_due_by_rows_or_by_bytes(pages: list[tuple[int, int]]) -> None:
    """50,000 long rows would not fit into memory; here a commit is due at ten rows of a common length."""
    saves = [MergeRows([{"id": str(number)} for number in range(rows)], START) for rows, _ in pages]
    sizes = {id(save): bytes_read for save, (_, bytes_read) in zip(saves, pages, strict=True)}
    committed: list[Sequence[Save]] = []
    read = 0

    async def commit(saved: Sequence[Save]) -> Changes:
        committed.append(saved)
        return Changes()

    async def scene() -> None:
        nonlocal read
        buffer = buffer_of(commit, 10, lambda: read)
        for save in saves:
            read += sizes[id(save)]
            await buffer.put(save)
        await buffer.flush()

    asyncio.run(scene())

    def full(saved: Sequence[Save]) -> bool:
        rows, read = sum(map(rows_in, saved)), sum(sizes[id(save)] for save in saved)
        return rows >= 10 or read >= 10 * BYTES_A_ROW

    assert [save for saved in committed for save in saved] == saves
    assert all(full(saved) for saved in committed[:-1])
    assert not any(full(saved[:-1]) for saved in committed)


def test_however_many_readers_bring_rows_three_batches_are_in_memory() -> None:
    """Two batches are being written, one is full, and each reader waits with a page; then all are stored."""
    readers, pages, rows_of_a_page, rows_at_once = 8, 10, 5, 20
    committed: list[Save] = []
    brought = 0

    async def scene() -> int:
        nonlocal brought
        go_on = asyncio.Event()

        async def commit(saved: Sequence[Save]) -> Changes:
            await go_on.wait()
            committed.extend(saved)
            return Changes(inserted=sum(map(rows_in, saved)))

        async def read() -> None:
            nonlocal brought
            for _ in range(pages):
                brought += rows_of_a_page
                await buffer.put(MergeRows([{"id": "r"}] * rows_of_a_page, START))

        buffer = buffer_of(commit, rows_at_once)
        tasks = [asyncio.create_task(read()) for _ in range(readers)]
        for _ in range(readers * pages):
            await asyncio.sleep(0)
        waiting = brought
        go_on.set()
        await asyncio.gather(*tasks)
        await buffer.flush()
        assert buffer.changes.inserted == brought
        return waiting

    assert asyncio.run(scene()) <= 3 * rows_at_once + readers * rows_of_a_page
    assert sum(map(rows_in, committed)) == readers * pages * rows_of_a_page


def two_calls(day: date) -> Certificate:
    window = Window(day, day)
    return Certificate(window, WindowKind.CLOSED, 2, 2, 2, None, 1, 0, True, "as many as told", START, START)


class LatestFirstThreads(ThreadPoolExecutor):
    """Runs its tasks on request, the latest first."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        done: Future[Any] = Future()
        self._waiting.append((done, partial(fn, *args, **kwargs)))
        return done

    def go_on(self) -> None:
        while self._waiting:
            done, work = self._waiting.pop()
            done.set_result(work())


def test_batches_are_committed_in_the_order_in_which_they_were_saved() -> None:
    """The later of two reads of a row stays, whichever batch is prepared first."""
    committed: list[Save] = []
    days = [date(2026, 1, day) for day in range(1, 6)]
    saves = [ReplaceDays([], day, day, START, certificate=two_calls(day)) for day in days]

    async def commit(saved: Sequence[Save]) -> Changes:
        committed.extend(saved)
        return Changes()

    async def scene() -> None:
        threads = LatestFirstThreads()
        asyncio.get_running_loop().set_default_executor(threads)
        buffer = buffer_of(commit, 2)
        tasks = [asyncio.create_task(buffer.put(save)) for save in saves]
        while not all(task.done() for task in tasks):
            for _ in range(20):
                await asyncio.sleep(0)
            threads.go_on()
        await asyncio.gather(*tasks)
        await buffer.flush()

    asyncio.run(scene())
    assert committed == saves
