"""The real path of `vetl sync`, from settings to committed rows."""

from datetime import date
from pathlib import Path

from pydantic import SecretStr
from vetl.core.list_read import Practice
from vetl.jobs.sync import run_sync
from vetl.settings import Settings
from vetl.settings.core_sections import PartnerSettings, PhoneCallsSettings, WarehouseSettings


def run(base_url: str, endpoint: str, start: date, folder: Path) -> None:
    """Read one list of one practice for the first time, without the ids of the JSON list of calls."""
    settings = Settings(
        partner=PartnerSettings(base_url=base_url, username=SecretStr("u"), password=SecretStr("p"), role="r"),
        warehouse=WarehouseSettings(path=folder / "vetl.duckdb"),
        phone_calls=PhoneCallsSettings(details="off"),
        practices=(Practice("loc-001", "Harbor", "UTC", start),),
    )
    result = run_sync(settings, practices=None, endpoints=[endpoint], since=None, progress=lambda _: None)
    if result.exit_code:
        raise RuntimeError(f"the sync is not certified: {result}")
