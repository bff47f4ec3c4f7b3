from collections.abc import Iterator

import pytest
import structlog
from structlog.testing import capture_logs
from support.scripted_server import HeldTime, ScriptedServer, Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    structlog.reset_defaults()  # an earlier command of this process shows less
    with capture_logs() as logs:
        yield Stage(ScriptedServer(), HeldTime(), logs)
