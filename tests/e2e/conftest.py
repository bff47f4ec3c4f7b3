"""A real sandbox over a real socket, a real DuckDB file, the real sync."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from support import truth

import sandbox
from pipelines.practice import Practice
from pipelines.results import SyncResult
from pipelines.settings import PartnerSettings, PhoneCallsSettings, Settings, WarehouseSettings
from pipelines.sync_job import run_sync


@dataclass
class Practices:
    """A platform, a warehouse that follows it, and what a test wants to know of both."""

    platform: sandbox.Handle
    settings: Settings

    def sync(self, **chosen: Any) -> SyncResult:
        arguments: dict[str, Any] = {"practices": None, "endpoints": None, "since": None}
        return run_sync(self.settings, **{**arguments, **chosen}, progress=lambda _: None)

    @property
    def warehouse(self) -> Path:
        return self.settings.warehouse.path

    @property
    def today(self) -> date:
        return self.platform.now().date()

    def differences(self, lists: Sequence[str] | None = None) -> list[str]:
        """What differs between platform and warehouse, in all lists or in some."""
        zones = {practice.id: practice.time_zone for practice in self.settings.practices}
        since = self.settings.practices[0].history_start
        return truth.differences(self.platform, self.warehouse, zones, since=since, lists=lists)


Opened = Callable[..., Practices]


def settings_for(platform: sandbox.Handle, folder: Path, days: int, parameters: Any = None) -> Settings:
    """Settings as a user would write them for this platform."""
    start = platform.now().date() - timedelta(days=days + 1)
    return Settings(
        partner=PartnerSettings(
            base_url=platform.base_url,
            username=SecretStr(platform.username),
            password=SecretStr(platform.password),
            role=platform.role,
            parameters=parameters or {},
        ),
        warehouse=WarehouseSettings(
            path=folder / "vetl.duckdb", published=folder / "analytics.duckdb", lock_wait_seconds=0
        ),
        phone_calls=PhoneCallsSettings(),
        practices=tuple(
            Practice(item["id"], item["name"], item["time_zone"], start)
            for item in platform.describe()["practices"]
        ),
    )


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens a platform with a fresh warehouse; each is closed at the end of the test."""
    from contextlib import ExitStack  # noqa: PLC0415 - the one user

    with ExitStack() as stack:

        def open_platform(
            *, days: int = 60, switches: sandbox.Switches | None = None, parameters: Any = None, **world: Any
        ) -> Practices:
            arguments: Any = {"practices": 2, "calls": 1500, "seed": 7, **world}
            handle = stack.enter_context(sandbox.running(frozen=True, days=days, switches=switches, **arguments))
            return Practices(handle, settings_for(handle, tmp_path, days, parameters))

        yield open_platform
