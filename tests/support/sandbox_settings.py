"""Settings as a user would write them for a sandbox."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from pydantic import SecretStr

import sandbox
from pipelines.core.practice import Practice
from pipelines.settings import PartnerSettings, PhoneCallsSettings, Settings, WarehouseSettings


def settings_for(platform: sandbox.Handle, folder: Path, days: int, parameters: Any = None) -> Settings:
    """Return settings as a user would write them for this platform."""
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


def at(settings: Settings, base_url: str) -> Settings:
    """Return the same settings for another address."""
    return settings.model_copy(update={"partner": settings.partner.model_copy(update={"base_url": base_url})})
