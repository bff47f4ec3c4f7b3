"""A small world behind a real socket, with a fresh platform for each test."""

from collections.abc import Iterator

import pytest
import vetl_sandbox
from support.hook_receiver import Receiver, receiving
from support.partner_side import Partner
from vetl_sandbox import Handle, Switches, World

LONG = 10 * 365 * 86_400  # tests move the clock by weeks


@pytest.fixture(scope="session")
def world() -> World:
    return World(practices=4, days=100, calls=8000)


@pytest.fixture(scope="session")
def server(world: World) -> Iterator[Handle]:
    with vetl_sandbox.running(world, frozen=True, switches=Switches(token_lifetime_seconds=LONG)) as handle:
        yield handle


@pytest.fixture
def platform(server: Handle) -> Handle:
    server.reset()
    return server


@pytest.fixture
def partner(platform: Handle) -> Iterator[Partner]:
    partner = Partner(platform)
    yield partner
    partner.http.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver
