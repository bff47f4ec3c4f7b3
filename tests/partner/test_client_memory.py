"""The memory that an answer may cost, whatever it holds: in a process with a limited address space."""

import asyncio
import multiprocessing
import resource
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from support.scripted_server import PRACTICE, HeldTime, Reply, ScriptedServer

from pipelines.core.errors import VetlError
from pipelines.partner.client import Account, Limits, PartnerClient

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(["pipelines.partner.client"])

ROOM = 300 * 2**20
"""Bytes of address space beyond those of an idle client."""
HEAD = b'{"success": true, "message": null, "data": {"page": 0, "per_page": 100, "total_count": 100, "content": ['
BODIES = {
    "60 MB of empty lists": (b"[],", 20_000_000, b"[]]}}"),
    "15 MB of empty lists": (b"[],", 5_000_000, b"[]]}}"),
    "15 MB of lists in lists": (b"[", 15_000_000, b""),
    "30,000 rows": (b"{},", 30_000, b"{}]}}"),
}
"""The repeated part of a body after its head, how often it is repeated, and its end."""


def read_within(room: int, base_url: str, report: Path) -> None:
    """Read the body in a process of its own."""
    size = int(Path("/proc/self/statm").read_text("utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))

    async def scene() -> None:
        account = Account(base_url, "u", SecretStr("p"), "r")
        async with PartnerClient(account, Limits(attempts=2), timing=HeldTime().timing) as client:
            await client.page(PRACTICE, "staff_tasks", {})

    try:
        asyncio.run(scene())
    except VetlError as error:
        report.write_text(str(error), "utf-8")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """Run the server on a thread of its own, while the process reads."""
    server, ready, done = ScriptedServer(), threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        server.base_url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
        ready.set()
        await done.wait()
        listener.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    yield server
    loop.call_soon_threadsafe(done.set)
    thread.join()
    loop.close()


@pytest.mark.parametrize("kind", BODIES)
def test_a_page_is_refused_before_it_takes_the_memory(server: ScriptedServer, tmp_path: Path, kind: str) -> None:
    report = tmp_path / "told"
    again, times, end = BODIES[kind]
    server.answers(Reply(body=HEAD + again * times + end))

    process = processes.Process(target=read_within, args=(ROOM, server.base_url, report))
    process.start()
    process.join(60)

    assert process.exitcode == 0
    assert f"GET staff_tasks for practice {PRACTICE}: " in report.read_text("utf-8")
