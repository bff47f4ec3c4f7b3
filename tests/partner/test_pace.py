"""For any delay of requests, no second sees more than the limit."""

import asyncio
from bisect import bisect_left
from contextlib import suppress
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vetl.partner.pace import Pace
from vetl.partner.timing import Timing


class Clock:
    """A machine's clock that goes on when all sleep, to the next waking."""

    def __init__(self, late: float = 0.0) -> None:
        self.seconds = 0.0
        self.late = late
        """The delay with which a sleeping process wakes, as on a busy machine."""
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def pace(self, per_minute: int) -> Pace:
        return Pace(per_minute, Timing(sleep=self.sleep, monotonic=lambda: self.seconds))

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
                    if not future.cancelled():
                        future.set_result(None)
        await asyncio.gather(*tasks)


def story(per_minute: int, requests: list[tuple[float, float, float]], late: float) -> tuple[list[float], float]:
    """Return when requests arrived, in order, and when the last was answered.

    A request arrives after a while, and is answered some time later.
    """

    async def told() -> tuple[list[float], float]:
        clock, arrived = Clock(late), list[float]()
        pace = clock.pace(per_minute)

        async def send(asked: float, way: float, answer: float) -> None:
            await clock.sleep(asked)
            async with pace.turn():
                await clock.sleep(way)
                arrived.append(clock.seconds)
                await clock.sleep(answer)

        await clock.run([asyncio.create_task(send(*request)) for request in requests])
        return sorted(arrived), clock.seconds

    return asyncio.run(told())


@given(
    st.sampled_from([1, 30, 60, 119, 300, 600]),
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 3), st.floats(0, 3)), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.3, 2.0]),
)
def test_no_second_sees_more_than_a_sixtieth_of_the_ceiling(
    per_minute: int, requests: list[tuple[float, float, float]], late: float
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
    _, ended = story(600, [(0.0, 0.0, answer)] * 200, 0.0)

    assert ended == pytest.approx(seconds - 1.01, abs=0.02)


def test_a_request_that_is_cancelled_before_it_is_sent_uses_no_place() -> None:
    async def cancelled_and_next() -> float:
        clock = Clock()
        pace = clock.pace(60)

        async def send() -> None:
            async with pace.turn():
                pass

        first, cancelled, last = (asyncio.create_task(send()) for _ in range(3))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        cancelled.cancel()
        with suppress(asyncio.CancelledError):
            await cancelled
        await clock.run([first, last])
        return clock.seconds

    assert asyncio.run(cancelled_and_next()) == pytest.approx(1.01)
