"""A real sandbox over a real socket, a real DuckDB file, the real sync."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import vetl_sandbox
from support import truth
from support.sandbox_settings import settings_for, synced
from vetl.core.list_read import SyncResult
from vetl.settings import Settings


@dataclass
class Practices:
    """A platform, a warehouse that follows it, and queries about both."""

    platform: vetl_sandbox.Handle
    settings: Settings

    def sync(self, **chosen: Any) -> SyncResult:
        return synced(self.settings, **chosen)

    def mended(self, lists: Sequence[str] | None = None) -> bool:
        """Sync, and return whether that succeeds and leaves no difference."""
        return self.sync(endpoints=lists).exit_code == 0 and not self.differences(lists)

    @property
    def warehouse(self) -> Path:
        return self.settings.warehouse.path

    @property
    def today(self) -> date:
        return self.platform.now().date()

    def differences(self, lists: Sequence[str] | None = None) -> list[str]:
        zones = {practice.id: practice.time_zone for practice in self.settings.practices}
        since = self.settings.practices[0].history_start
        return truth.differences(self.platform, self.warehouse, zones, since=since, lists=lists)


Opened = Callable[..., Practices]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Provide a function that opens a platform with a new warehouse; each is closed at the end of the test."""
    with ExitStack() as stack:

        def open_platform(
            *, days: int = 60, switches: vetl_sandbox.Switches | None = None, parameters: Any = None, **world: Any
        ) -> Practices:
            arguments: Any = {"practices": 2, "calls": 1500, "seed": 7, **world}
            handle = stack.enter_context(
                vetl_sandbox.running(frozen=True, days=days, switches=switches, **arguments)
            )
            return Practices(handle, settings_for(handle, tmp_path, days, parameters))

        yield open_platform
