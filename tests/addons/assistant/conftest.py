"""Servers of `vetl mcp` over stdio: one for all practices, one for the user of one practice."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from support.assistant import Assistant, client_of


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="module")
def assistant(portal: BlockingPortal, stale: Path) -> Iterator[Assistant]:
    with portal.wrap_async_context_manager(client_of("--file", str(stale), "--rows", "40")) as client:
        yield Assistant(portal, client)


@pytest.fixture(scope="module")
def of_one_practice(portal: BlockingPortal, stale: Path) -> Iterator[Assistant]:
    with portal.wrap_async_context_manager(client_of("--file", str(stale), "--practice", "loc-002")) as client:
        yield Assistant(portal, client)


@pytest.fixture
def sql(stale: Path) -> Iterator[Callable[[str], list[list[Any]]]]:
    """Provide rows of the published file, with days as JSON has them."""
    with duckdb.connect(stale, read_only=True) as connection:
        yield lambda statement: json.loads(
            json.dumps([list(row) for row in connection.execute(statement).fetchall()], default=str)
        )
