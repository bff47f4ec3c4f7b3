"""All lists of a sync share the memory for answers; each list ends, whatever the sizes of its answers."""

import asyncio
from collections.abc import Sequence
from functools import partial

from hypothesis import given
from hypothesis import strategies as st
from vetl.engine.protocols import Take
from vetl.engine.room import LARGE, MOST_BESIDE_HUGE, MOST_IN_MEMORY, ListRoom, Room

PIECE = LARGE // 2


class Answer:
    def __init__(self, number: int) -> None:
        self.number = number


async def received(number: int, size: int, *, take: Take) -> Answer:
    for _ in range(size // PIECE):
        await asyncio.sleep(0)
        take(PIECE)
    return Answer(number)


async def nothing_waits() -> None:
    """Write no rows."""


answers = st.lists(st.integers(0, 16 * LARGE), max_size=12)


@given(st.lists(answers, max_size=12))
def test_answers_of_all_lists_have_a_bounded_memory_and_each_comes(lists: Sequence[Sequence[int]]) -> None:
    """Each list requests three answers at a time, keeps them, and then writes them."""
    room, most, came = Room(), 0, list[list[int]]()

    async def read(sizes: Sequence[int]) -> None:
        nonlocal most
        own, numbers = ListRoom(room), list[int]()
        for start in range(0, len(sizes), 3):
            asked = [
                own.read(partial(received, number, sizes[number]), nothing_waits)
                for number in range(start, min(start + 3, len(sizes)))
            ]
            kept = await asyncio.gather(*asked)
            most = max(most, room.in_use)
            numbers += [answer.number for answer in kept]
            await asyncio.sleep(0)
            del kept
            await own.leave()
        await own.leave(has_ended=True)
        came.append(numbers)

    async def scene() -> None:
        async with asyncio.timeout(20):
            await asyncio.gather(*map(read, lists))

    asyncio.run(scene())

    assert sorted(came) == sorted([*range(len(sizes))] for sizes in lists)
    assert most <= MOST_IN_MEMORY + 3 * 16 * LARGE
    assert room.in_use == 0


def test_lists_that_wait_for_another_one_have_few_huge_answers() -> None:
    """Each of 36 lists keeps one answer of 16 MiB until it may go on."""
    room, size, done = Room(), 16 * LARGE, list[int]()

    async def read(number: int, may_leave: asyncio.Event) -> None:
        own = ListRoom(room)
        answer = await own.read(partial(received, number, size), nothing_waits)
        await may_leave.wait()
        done.append(answer.number)
        del answer
        await own.leave(has_ended=True)

    async def scene() -> None:
        may_leave = asyncio.Event()
        lists = [asyncio.create_task(read(number, may_leave)) for number in range(36)]
        for _ in range(100 * size // PIECE):
            await asyncio.sleep(0)
        assert size <= room.in_use <= MOST_BESIDE_HUGE + size
        may_leave.set()
        async with asyncio.timeout(20):
            await asyncio.gather(*lists)

    asyncio.run(scene())

    assert sorted(done) == [*range(36)]
    assert room.in_use == 0
