"""Settings as a user would write them for a sandbox, and a sync with them."""

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import vetl_sandbox
from pydantic import SecretStr
from vetl.core.list_read import Practice, SyncResult
from vetl.jobs.sync import run_sync
from vetl.settings import Settings, settings_class
from vetl.settings.core_sections import PartnerSettings, PhoneCallsSettings, WarehouseSettings


def settings_for(platform: vetl_sandbox.Handle, folder: Path, days: int, parameters: Any = None) -> Settings:
    start = platform.now().date() - timedelta(days=days + 1)
    return settings_class()(
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


def changed(settings: Settings, **sections: Mapping[str, Any]) -> Settings:
    """Return the settings with other values in some sections."""
    update = {name: getattr(settings, name).model_copy(update=values) for name, values in sections.items()}
    return settings.model_copy(update=update)


def at(settings: Settings, base_url: str) -> Settings:
    """Return the same settings for another address."""
    return changed(settings, partner={"base_url": base_url})


def synced(settings: Settings, *, progress: Callable[[Any], None] = lambda _: None, **chosen: Any) -> SyncResult:
    """Sync every list of every practice, or what is chosen."""
    everything: dict[str, Any] = {"practices": None, "endpoints": None, "since": None}
    return run_sync(settings, progress=progress, **everything | chosen)


def credentials(platform: vetl_sandbox.Handle) -> dict[str, str]:
    """Return the variables of the environment that a user of the platform sets."""
    return {f"VETL_PARTNER__{key}".upper(): getattr(platform, key) for key in ("username", "password", "role")}


def enter(folder: Path, platform: vetl_sandbox.Handle, patch: pytest.MonkeyPatch) -> None:
    """Work in a folder as a user of the platform, with no other variable of vetl in the environment."""
    patch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("VETL_")]:
        patch.delenv(name)
    for name, value in credentials(platform).items():
        patch.setenv(name, value)
