"""A `vetl.toml` over a sandbox, for tests that run Dagster on it."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import vetl_sandbox
from support.sandbox_settings import credentials
from vetl.orchestration.resources import VetlResource


def practice_table(
    identity: str, *, name: str = "P", time_zone: str = "UTC", start: object = "2025-01-01", more: str = ""
) -> str:
    """Return the settings of a practice, with more lines."""
    table = f"[[practices]]\nid = '{identity}'\nname = '{name}'\ntime_zone = '{time_zone}'\n"
    return f"{table}history_start = {start}\n{more}"


def practice_tables(*ids: str) -> str:
    """Return the settings of practices of which only the ids count."""
    return "".join(map(practice_table, ids))


def vetl_resource(folder: Path, text: str = "") -> VetlResource:
    """Write `vetl.toml` into a folder, and return Dagster's resource of it."""
    config = folder / "vetl.toml"
    config.write_text(text, "utf-8")
    return VetlResource(config=str(config))


def write_settings(folder: Path, platform: Any, *, practices: int, days: int = 10, more: str = "") -> Path:
    """Write the settings file for so many of the platform's practices; credentials stay in the environment."""
    start = platform.now().date() - timedelta(days=days)
    chosen = platform.practices[:practices]
    tables = "".join(practice_table(one.id, time_zone=one.time_zone, start=start) for one in chosen)
    config = folder / "vetl.toml"
    config.write_text(
        f"[partner]\nbase_url = '{platform.base_url}'\n[phone_calls]\ndetails = 'off'\n{more}\n{tables}", "utf-8"
    )
    return config


@contextmanager
def site(folder: Path, monkeypatch: pytest.MonkeyPatch, *, practices: int = 1) -> Generator[tuple[Any, Path]]:
    """Provide a small frozen platform and the settings file for it."""
    with vetl_sandbox.running(practices=practices, days=10, calls=60 * practices, frozen=True) as platform:
        for name, value in credentials(platform).items():
            monkeypatch.setenv(name, value)
        yield platform, write_settings(folder, platform, practices=practices)
