"""The real path of `vetl sync`, from settings to committed rows."""

from datetime import date
from pathlib import Path

from pydantic import SecretStr
from vetl.core.list_read import Practice
from vetl.jobs.sync import run_sync
from vetl.settings import Settings
from vetl.settings.core_sections import PartnerSettings, PhoneCallsSettings, WarehouseSettings


def settings_for(base_url: str, start: date, folder: Path, practices: int = 1) -> Settings:
    """Return the settings for practices of ready pages, without the ids of the JSON list of calls."""
    return Settings(
        partner=PartnerSettings(base_url=base_url, username=SecretStr("u"), password=SecretStr("p"), role="r"),
        warehouse=WarehouseSettings(path=folder / "vetl.duckdb", published=folder / "analytics.duckdb"),
        phone_calls=PhoneCallsSettings(details="off"),
        practices=tuple(
            Practice(f"loc-{number:03}", f"Harbor {number}", "UTC", start) for number in range(1, practices + 1)
        ),
    )


def run(base_url: str, endpoint: str, start: date, folder: Path, practices: int = 1) -> None:
    """Read one list of each practice for the first time, or what has changed since."""
    settings = settings_for(base_url, start, folder, practices)
    result = run_sync(settings, practices=None, endpoints=[endpoint], since=None, progress=lambda _: None)
    if result.exit_code:
        raise RuntimeError(f"the sync is not certified: {result}")
