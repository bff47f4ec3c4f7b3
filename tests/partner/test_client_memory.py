"""The memory that an answer may cost, whatever it holds: in a process with a limited address space."""

import asyncio
import resource
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from pydantic import SecretStr
from support.forked import start
from support.scripted_server import PRACTICE, HeldTime, Reply, ScriptedServer
from vetl.core.errors import VetlError
from vetl.partner.client import Account, PartnerClient
from vetl.partner.retries import RetryPolicy
from vetl.store.phone_calls.csv_frames import parse_calls

ROOM = 800 * 2**20
"""Bytes of address space beyond those of an idle client."""
HEAD = b'{"success": true, "message": null, "data": {"page": 0, "per_page": 100, "total_count": 100, "content": ['
BODIES = {
    "60 MB": (b"[],", 20_000_000, b"[]]}}", "the answer is larger than 8 MiB"),
    "8 MB of empty lists": (b"[],", 2_700_000, b"[]]}}", "the answer has more than 500000 values"),
    "8 MB of lists in lists": (b"[", 8_000_000, b"", "JSON that is cut off or malformed"),
    "30,000 rows": (b"{},", 30_000, b"{}]}}", "one page has 30001 rows"),
}
"""The repeated part of a body after its head, how often it is repeated, its end, and why it is refused."""


def folded(head: bytes, mebibytes: int, wbits: int = 31) -> bytes:
    """Return `head` and then zeros, compressed: a gzip, or deflate with other `wbits`."""
    folding = zlib.compressobj(1, wbits=wbits)
    parts = [folding.compress(head), *(folding.compress(ZEROS) for _ in range(mebibytes)), folding.flush()]
    return b"".join(parts)


ZEROS = bytes(2**20)
LARGER = folded(HEAD, 200)
BOMBS = {
    "200 MiB in a gzip": ("gzip", LARGER),
    "200 MiB in a gzip in a gzip": ("gzip, gzip", zlib.compress(LARGER, wbits=31)),
    "as large as an answer may be": ("x-gzip", folded(b"Date,Practice", 7)),
    "200 MiB in deflate": ("deflate", folded(HEAD, 200, wbits=-15)),
}
"""By their content coding."""


def read_within(room: int, base_url: str, report: Path, practices: int) -> None:
    """Read two lists of each practice at once in a process of its own, and report the outcome."""
    size = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))

    async def scene() -> list[BaseException | object]:
        account, once = Account(base_url, "u", SecretStr("p"), "r"), RetryPolicy(attempts=1)
        async with PartnerClient(account, timing=HeldTime().timing, retry_policy=once) as client:
            names = [f"{PRACTICE[:-1]}{number}" for number in range(1, practices + 1)]
            pages = (client.page(name, "staff_tasks", {}) for name in names)
            calls = (client.calls(name, {}, parse=parse_calls) for name in names)
            return await asyncio.gather(*pages, *calls, return_exceptions=True)

    ends = asyncio.run(scene())
    report.write_text("\n".join(str(end) for end in ends if isinstance(end, VetlError)), "utf-8")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """Run the server on a thread of its own, while the process reads."""
    server = ScriptedServer()
    with start_blocking_portal() as portal:
        listener = portal.call(asyncio.start_server, server.serve, "127.0.0.1", 0)
        server.base_url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        yield server
        portal.call(listener.close)


def ends(server: ScriptedServer, report: Path, practices: int) -> list[str]:
    """Return how the reads of a process ended that has no more than `ROOM`: with which errors."""
    process = start(read_within, ROOM, server.base_url, report, practices)
    process.join(120)
    assert process.exitcode == 0
    return report.read_text("utf-8").splitlines()


@pytest.mark.parametrize("kind", BODIES)
def test_a_page_is_refused_before_it_takes_the_memory(server: ScriptedServer, tmp_path: Path, kind: str) -> None:
    again, times, end, reason = BODIES[kind]
    server.answers(Reply(body=HEAD + again * times + end))

    errors = ends(server, tmp_path / "report", 1)

    assert errors[0].startswith(f"GET staff_tasks for practice {PRACTICE}: ")
    assert reason in errors[0]
    assert len(errors) == 2


@pytest.mark.parametrize("kind", BOMBS)
def test_compressed_answers_are_refused_before_they_take_the_memory(
    server: ScriptedServer, tmp_path: Path, kind: str
) -> None:
    """Two lists of twelve practices are read at the same time."""
    coding, body = BOMBS[kind]
    server.answers(Reply(body=body, headers={"Content-Encoding": coding}))

    errors = ends(server, tmp_path / "report", 12)

    assert len(errors) == 2 * 12
    assert all("GET " in line for line in errors)
