from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs
from support.scripted_server import HeldTime, ScriptedServer, Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    with capture_logs() as logs:
        yield Stage(ScriptedServer(), HeldTime(), logs)
