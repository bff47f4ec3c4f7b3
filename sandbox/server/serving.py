"""Running the platform: in a thread of this process for tests, or blocking for people."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import uvicorn

from sandbox.clock import VirtualClock
from sandbox.faults import PRESETS, Faults
from sandbox.platform import Platform, Requests
from sandbox.resources.resource import Record
from sandbox.server.app import build_app
from sandbox.switches import Switches
from sandbox.world import World
from sandbox.world.practices import Practice

HOST = "127.0.0.1"
_DRAWN_AHEAD = 20
_START_SECONDS = 30


@dataclass(frozen=True)
class Handle:
    """A running platform, as its tests and its demo see it."""

    base_url: str
    platform: Platform

    @property
    def username(self) -> str:
        return self.platform.credentials.username

    @property
    def password(self) -> str:
        return self.platform.credentials.password

    @property
    def role(self) -> str:
        return self.platform.credentials.role

    @property
    def webhook_secret(self) -> str:
        return self.platform.credentials.webhook_secret

    @property
    def practices(self) -> tuple[Practice, ...]:
        return tuple(self.platform.world.practices.values())

    @property
    def requests(self) -> Requests:
        """The requests so far."""
        return self.platform.requests

    @property
    def faults(self) -> Faults:
        return self.platform.faults

    @property
    def switches(self) -> Switches:
        return self.platform.switches

    def set(self, **changes: Any) -> Switches:  # noqa: ANN401 - checked by the switches themselves
        """Change switches: `set(token_lifetime_seconds=5, staff_tasks={"page_base": 1})`."""
        return self.platform.set(**changes)

    def now(self) -> datetime:
        return self.platform.now()

    def advance(self, by: timedelta) -> datetime:
        return self.platform.clock.advance(by)

    def truth(self, practice_id: str, list_name: str) -> list[Record]:
        """A whole list as it is now, oldest first."""
        return list(self.platform.truth(practice_id, list_name))

    def insert(self, practice_id: str, list_name: str, record: Mapping[str, Any]) -> str:
        """Add a row and return its id; fields that are not given are null, or the present time."""
        with self.platform.lock:
            return self.platform.table(practice_id, list_name).insert(record, self.now())

    def update(self, practice_id: str, list_name: str, row_id: str, changes: Mapping[str, Any]) -> Record:
        """Change fields of a row and nothing else: `updated_at` moves only if it is among them."""
        with self.platform.lock:
            table = self.platform.table(practice_id, list_name)
            return table.update(row_id, changes, self.now(), self.switches)

    def delete(self, practice_id: str, list_name: str, row_id: str) -> None:
        """Take a row away without a trace."""
        with self.platform.lock:
            self.platform.table(practice_id, list_name).delete(row_id, self.now(), self.switches)

    def describe(self) -> dict[str, Any]:
        """What a client needs to know, as `--json` prints it."""
        return {
            "base_url": self.base_url,
            "username": self.username,
            "password": self.password,
            "role": self.role,
            "webhook_secret": self.webhook_secret,
            "practices": [
                {"id": practice.id, "name": practice.name, "time_zone": practice.time_zone}
                for practice in self.practices
            ],
        }


@contextmanager
def running(
    world: World | None = None, *, frozen: bool = False, port: int = 0, **world_arguments: Any
) -> Iterator[Handle]:  # noqa: ANN401 - World's
    """The platform on a free port, in a thread, until the block ends.

    Args:
        world: The world to show; made from `world_arguments` (see `World`) if not given.
        frozen: Whether its clock moves only by `advance`.
        port: Another port than a free one.
    """
    world = world or World(**world_arguments)
    platform = Platform(world, VirtualClock(world.start, frozen=frozen))
    with _listening(port) as listener:
        server = _server(platform)
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listener]}, name="sandbox", daemon=True
        )
        thread.start()
        try:
            _wait_for(server, thread)
            yield Handle(_address(listener), platform)
        finally:
            server.should_exit = True
            thread.join()


def serve(
    *,
    port: int = 0,
    practices: int = 3,
    days: int = 365,
    seed: int = 1,
    calls: int | None = None,
    faults: str = "none",
    start: datetime | None = None,
    as_json: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """The platform in the foreground until it is interrupted; says one line once it answers.

    Raises:
        ValueError: Unknown faults, or a world that cannot be.
        OSError: The port is taken.
    """
    if faults not in PRESETS:
        raise ValueError(f"faults must be one of {', '.join(PRESETS)}, not {faults}")
    begun = {} if start is None else {"start": start}
    world = World(practices=practices, days=days, seed=seed, calls=calls, **begun)
    if practices <= _DRAWN_AHEAD:
        world.warm()
    platform = Platform(world)
    platform.faults.set(PRESETS[faults])
    with _listening(port) as listener:
        handle = Handle(_address(listener), platform)
        server = _server(platform, on_start=lambda: say(_greeting(handle, as_json=as_json)))
        server.run(sockets=[listener])


def _greeting(handle: Handle, *, as_json: bool) -> str:
    described = handle.describe()
    if as_json:
        return json.dumps(described)
    names = ", ".join(
        f"{practice['id']} ({practice['time_zone']})" for practice in described["practices"][:5]
    )
    return (
        f"{handle.base_url}  username {handle.username}  password {handle.password!r}  role {handle.role}  "
        f"practices {names}{', ...' if len(handle.practices) > 5 else ''}"  # noqa: PLR2004 - of a line
    )


class _Server(uvicorn.Server):
    """Tells when it answers."""

    on_start: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.on_start is not None:
            self.on_start()


def _server(platform: Platform, on_start: Callable[[], None] | None = None) -> _Server:
    config = uvicorn.Config(
        build_app(platform),
        http="httptools",
        ws="none",
        lifespan="off",
        log_level="critical",  # a connection closed on purpose is no error
        access_log=False,
        date_header=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    server = _Server(config)
    server.on_start = on_start
    return server


@contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(256)
        yield listener


def _address(listener: socket.socket) -> str:
    return f"http://{HOST}:{listener.getsockname()[1]}"


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the sandbox did not start")
        time.sleep(0.002)
