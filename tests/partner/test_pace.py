"""However many processes send, each request has a turn of its own."""

import asyncio
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.partner.pace import SHARE, SharedPace
from pipelines.partner.timing import Timing

START = datetime(2025, 6, 1, tzinfo=UTC)
PER_MINUTE = 600


class Clock:
    """A machine's clock that goes on where somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timing(self) -> Timing:
        return Timing(now=lambda: START + timedelta(seconds=self.seconds), sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 2)), max_size=30))
def test_turns_of_several_senders_are_never_closer_than_the_ceiling_allows(steps: list[tuple[int, float]]) -> None:
    with TemporaryDirectory() as folder:
        clock, turns = Clock(), list[float]()
        senders = [SharedPace(Path(folder) / "pace", PER_MINUTE, clock.timing()) for _ in range(4)]

        for sender, pause in steps:
            clock.seconds += pause
            asked_at = clock.seconds
            asyncio.run(senders[sender].turn())
            turns.append(clock.seconds)
            assert clock.seconds - asked_at <= 60 / (SHARE * PER_MINUTE) + 1e-5, "nobody else has asked meanwhile"

        gaps = [later - earlier for earlier, later in pairwise(turns)]
        assert all(gap >= 60 / PER_MINUTE - 1e-5 for gap in gaps)


class BusyLoop(Clock):
    """A clock of many who sleep at the same time, in a process that wakes none of them for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.sleepers: list[tuple[float, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        self.sleepers.append((self.seconds + seconds, asyncio.get_running_loop().create_future()))
        await self.sleepers[-1][1]

    async def wake(self, at: float) -> None:
        """All who are due at this second, and nobody before."""
        self.seconds = at
        for sleeper in [sleeper for sleeper in self.sleepers if sleeper[0] <= at]:
            self.sleepers.remove(sleeper)
            sleeper[1].set_result(None)
        for _ in range(3):
            await asyncio.sleep(0)


@given(st.floats(0.2, 3))
def test_after_a_busy_while_those_who_waited_do_not_send_at_once(busy: float) -> None:
    async def story(file: Path) -> list[float]:
        loop, sent = BusyLoop(), list[float]()
        pace = SharedPace(file, PER_MINUTE, loop.timing())

        async def send() -> None:
            await pace.turn()
            sent.append(loop.seconds)

        tasks = [asyncio.create_task(send()) for _ in range(20)]
        await asyncio.sleep(0)
        await loop.wake(busy)
        while loop.sleepers:
            await loop.wake(min(due for due, _ in loop.sleepers))
        await asyncio.gather(*tasks)
        return sent

    with TemporaryDirectory() as folder:
        sent = asyncio.run(story(Path(folder) / "pace"))

    assert len(sent) == 20
    busiest = max(sum(at <= other < at + 1 for other in sent) for at in sent)
    assert busiest <= PER_MINUTE / 60 + 2, "one late by a turn, and the edges of a second"


def test_a_turn_far_ahead_was_taken_by_a_wrong_clock_and_a_broken_file_by_nobody(tmp_path: Path) -> None:
    for held in (struct.pack("<d", START.timestamp() + 86_400), b"\0\0"):
        clock, file = Clock(), tmp_path / "pace"
        file.write_bytes(held)
        pace = SharedPace(file, PER_MINUTE, clock.timing())

        asyncio.run(pace.turn())
        assert clock.seconds == 0
        asyncio.run(pace.turn())
        assert 0.09 < clock.seconds < 0.11


def taken(file: Path, tell: Callable[[list[float]], None]) -> None:
    """Fifty turns of one process, without waiting for any of them."""
    waits = list[float]()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    pace = SharedPace(file, 60, Timing(now=lambda: START, sleep=sleep))
    for _ in range(50):
        asyncio.run(pace.turn())
    tell(waits)


def test_no_turn_is_taken_twice_by_processes_that_ask_at_the_same_time(tmp_path: Path) -> None:
    context = get_context("spawn")
    queue = context.SimpleQueue()
    processes = [context.Process(target=taken, args=(tmp_path / "pace", queue.put)) for _ in range(2)]
    for process in processes:
        process.start()
    waits = sorted(queue.get() + queue.get())
    for process in processes:
        process.join()

    assert waits == pytest.approx([turn / SHARE for turn in range(1, 100)]), "the first waits for nothing"
