"""A small world behind a real socket, with a fresh platform for each test; rules also run on broken platforms."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import rules
from support.contract_breaks import Break
from support.hook_receiver import Receiver, receiving
from support.partner_side import Partner

import sandbox
from sandbox import Handle, Switches, World

LONG = 10 * 365 * 86_400  # tests move the clock by weeks


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "rule(rule): a rule of the contract; see support.rules")
    config.addinivalue_line("markers", "breaks(of): a break that a check must notice; see support.rules")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    rules.generate(metafunc)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    given: dict[str, Any] = pyfuncitem.funcargs
    if given.get("broken") is None:
        return (yield)
    with rules.noticed(given["broken"], given["platform"]):
        yield
    return True


@pytest.fixture
def broken(request: pytest.FixtureRequest, platform: Handle) -> Break | None:
    """Return the break of the sandbox in this test; the fixture itself breaks nothing."""
    assert platform
    return request.param


@pytest.fixture(scope="session")
def world() -> World:
    return World(practices=4, days=100, calls=8000)


@pytest.fixture(scope="session")
def server(world: World) -> Iterator[Handle]:
    with sandbox.running(world, frozen=True, switches=Switches(token_lifetime_seconds=LONG)) as handle:
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


@pytest.fixture(scope="session")
def documentation() -> str:
    return (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
