"""Running the platform: in a thread of this process for tests, or blocking for people."""

import json
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Unpack

import uvicorn
from starlette.applications import Starlette

from vetl_sandbox.clock import VirtualClock
from vetl_sandbox.faults import PRESETS
from vetl_sandbox.platform import Platform
from vetl_sandbox.server.app import build_app
from vetl_sandbox.server.greeting import greeting
from vetl_sandbox.server.handle import Handle
from vetl_sandbox.switches import Switches
from vetl_sandbox.world import World, WorldArguments

HOST = "127.0.0.1"
_DRAWN_AHEAD = 20
_START_SECONDS = 30
_LOOK_SECONDS = 0.5


@contextmanager
def running(
    world: World | None = None,
    *,
    frozen: bool = False,
    port: int = 0,
    switches: Switches | None = None,
    **world_arguments: Unpack[WorldArguments],
) -> Generator[Handle]:
    """Run the platform on a free port, in a thread of this process, until the block ends.

    Args:
        world: The world to show; made from `world_arguments` if not given.
        frozen: Whether its clock moves only by `advance`.
        port: A port instead of a free one.
        switches: Switches instead of the defaults.
        **world_arguments: See `World`.
    """
    world = world or World(**world_arguments)

    def fresh() -> Platform:
        return Platform(world, VirtualClock(world.start, frozen=frozen), switches=switches)

    app = build_app(fresh())
    with _listening(port) as listener:
        server = _server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="sandbox", daemon=True)
        thread.start()
        try:
            _wait_for(server, thread)
            _living(app, server).start()
            yield Handle(_address(listener), app, fresh)
        finally:
            server.should_exit = server.force_exit = True
            thread.join()


def serve(
    *,
    port: int = 0,
    faults: str = "none",
    as_json: bool = False,
    say: Callable[[str], None] = print,
    **world_arguments: Unpack[WorldArguments],
) -> None:
    """Run the platform in the foreground until it is interrupted.

    Args:
        port: A port instead of a free one.
        faults: One of `vetl_sandbox.faults.PRESETS`.
        as_json: Whether the greeting is one line of JSON.
        say: Called once, when the platform answers.
        **world_arguments: See `World`.

    Raises:
        ValueError: Unknown faults, or arguments that make no world.
        OSError: The port is taken.
    """
    if faults not in PRESETS:
        raise ValueError(f"faults must be one of {', '.join(PRESETS)}, not {faults}")
    world = World(**world_arguments)
    if len(world.practices) <= _DRAWN_AHEAD:
        world.warm()

    def fresh() -> Platform:
        platform = Platform(world)
        platform.faults.set(PRESETS[faults])
        return platform

    app = build_app(fresh())
    with _listening(port) as listener:
        handle = Handle(_address(listener), app, fresh)
        said = json.dumps(handle.describe()) if as_json else greeting(handle.base_url, handle.platform)
        server = _server(app, on_start=lambda: say(said))
        _living(app, server).start()
        server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """A server that reports when it answers."""

    on_start: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.on_start is not None:
            self.on_start()


def _server(app: Starlette, on_start: Callable[[], None] | None = None) -> _Server:
    config = uvicorn.Config(
        app,
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
def _listening(port: int) -> Generator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen(256)
        yield listener


def _living(app: Starlette, server: uvicorn.Server) -> threading.Thread:
    """Do the platform's due work in a thread until the server ends."""

    def live() -> None:
        while not server.should_exit:
            platform: Platform = app.state.platform
            platform.agenda.run_due(patiently=platform.clock.frozen)
            platform.agenda.wait(_LOOK_SECONDS)

    return threading.Thread(target=live, name="sandbox-life", daemon=True)


def _address(listener: socket.socket) -> str:
    return f"http://{HOST}:{listener.getsockname()[1]}"


def _wait_for(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise RuntimeError("the sandbox did not start")
        time.sleep(0.002)
