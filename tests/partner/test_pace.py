"""For any number of processes and any delay of requests, no second sees more than the limit."""

import asyncio
import struct
from bisect import bisect_left
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vetl.partner.pace import Place, SharedPace
from vetl.partner.timing import Timing

START = datetime(2025, 6, 1, tzinfo=UTC)


class Clock:
    """A machine's clock that goes on when all sleep, to the next waking."""

    def __init__(self, late: float = 0.0) -> None:
        self.seconds = 0.0
        self.late = late
        """The delay with which a sleeping process wakes, as on a busy machine."""
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def pace(self, file: Path, per_minute: int) -> SharedPace:
        timing = Timing(sleep=self.sleep)
        return SharedPace(file, per_minute, timing, lambda _: START.timestamp() + self.seconds)

    async def sleep(self, seconds: float) -> None:
        self._sleepers.append((self.seconds + seconds, asyncio.get_running_loop().create_future()))
        await self._sleepers[-1][1]

    async def run(self, tasks: list[asyncio.Task[None]]) -> None:
        while not all(task.done() for task in tasks):
            for _ in range(5):
                await asyncio.sleep(0)
            if self._sleepers:
                self.seconds = min(due for due, _ in self._sleepers) + self.late
                woken = [sleeper for sleeper in self._sleepers if sleeper[0] <= self.seconds]
                self._sleepers = [sleeper for sleeper in self._sleepers if sleeper not in woken]
                for _, future in woken:
                    future.set_result(None)
        await asyncio.gather(*tasks)


def story(
    per_minute: int, requests: list[tuple[int, float, float, float]], late: float
) -> tuple[list[float], float]:
    """Return when requests arrived, in order, and when the last was answered.

    Each of four processes sends one at a time; a request arrives after a while, and is answered some time later.
    """

    async def told(file: Path) -> tuple[list[float], float]:
        clock, arrived = Clock(late), list[float]()
        senders = [clock.pace(file, per_minute) for _ in range(4)]

        async def send(sender: int, asked: float, way: float, answer: float) -> None:
            await clock.sleep(asked)
            async with senders[sender].turn():
                await clock.sleep(way)
                arrived.append(clock.seconds)
                await clock.sleep(answer)

        await clock.run([asyncio.create_task(send(*request)) for request in requests])
        return sorted(arrived), clock.seconds

    with TemporaryDirectory() as folder:
        return asyncio.run(told(Path(folder) / "pace"))


@given(
    st.sampled_from([1, 30, 60, 119, 300, 600]),
    st.lists(
        st.tuples(st.integers(0, 3), st.floats(0, 5), st.floats(0, 3), st.floats(0, 3)), min_size=1, max_size=40
    ),
    st.sampled_from([0.0, 0.3, 2.0]),
)
def test_no_second_sees_more_than_a_sixtieth_of_the_ceiling(
    per_minute: int, requests: list[tuple[int, float, float, float]], late: float
) -> None:
    """Rounded up: then the same number in a span that is longer by as much."""
    arrived, _ = story(per_minute, requests, late)

    places = ceil(per_minute / 60)
    span = 60 * places / per_minute
    assert len(arrived) == len(requests)
    assert max(bisect_left(arrived, at + span) - n for n, at in enumerate(arrived)) <= places


@pytest.mark.parametrize(("answer", "seconds"), [(0.0, 20.2), (0.1, 22.2)])
def test_the_ceiling_is_reached_but_for_the_time_of_an_answer(answer: float, seconds: float) -> None:
    """200 requests at ten a second, whose first ten wait for nothing."""
    _, ended = story(600, [(n % 4, 0.0, 0.0, answer) for n in range(200)], 0.0)

    assert ended == pytest.approx(seconds - 1.01, abs=0.02)


def test_a_place_of_a_killed_process_is_free_after_half_a_minute(tmp_path: Path) -> None:
    async def killed_and_next() -> float:
        clock = Clock()
        pace = clock.pace(tmp_path / "pace", 60)
        pace.take()

        async def send() -> None:
            async with pace.turn():
                pass

        await clock.run([asyncio.create_task(send())])
        return clock.seconds

    assert 30 < asyncio.run(killed_and_next()) < 32


@pytest.mark.parametrize(
    "held", [struct.pack("<d", START.timestamp() + 86_400), struct.pack("<d", float("nan")), b"\0\0"]
)
def test_a_time_in_the_future_or_a_broken_file_delays_no_request(held: bytes, tmp_path: Path) -> None:
    (tmp_path / "pace").write_bytes(held)

    assert free(tmp_path / "pace", 60) == 1
    assert free(tmp_path / "pace", 60) == 0


def test_with_another_limit_recent_requests_still_count(tmp_path: Path) -> None:
    assert free(tmp_path / "pace", 300) == 5
    assert free(tmp_path / "pace", 600) == 5
    assert free(tmp_path / "pace", 180) == 0


def free(file: Path, per_minute: int) -> int:
    """Return how many requests one process may send at once if none is answered."""
    pace = Clock().pace(file, per_minute)
    return sum(1 for _ in iter(lambda: isinstance(pace.take(), Place), False))


def test_workers_with_different_clocks_share_the_places(tmp_path: Path) -> None:
    """As on machines of which one is a minute ahead: the file system's time counts, which is the same for all."""
    ahead, behind = (Timing(now=lambda by=by: START + timedelta(seconds=by)) for by in (60, -60))
    paces = [SharedPace(tmp_path / "pace", 600, timing) for timing in (ahead, behind)] * 10

    places = [pace.take() for pace in paces]

    assert sum(isinstance(place, Place) for place in places) == 10


def taken(file: Path, tell: Callable[[int], None]) -> None:
    tell(free(file, 60 * 500))


def test_no_place_is_taken_twice_by_processes_that_ask_at_the_same_time(tmp_path: Path) -> None:
    context = get_context("spawn")
    queue = context.SimpleQueue()
    processes = [context.Process(target=taken, args=(tmp_path / "pace", queue.put)) for _ in range(2)]
    for process in processes:
        process.start()
    counts = [queue.get(), queue.get()]
    for process in processes:
        process.join()

    assert sum(counts) == 500
