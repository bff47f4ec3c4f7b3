"""A `vetl.toml` over a sandbox, for tests that run Dagster on it."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.sandbox_settings import credentials

import sandbox


def practice_tables(*ids: str) -> str:
    """Return the settings of practices of which only the ids count."""
    return "".join(
        f"[[practices]]\nid = '{one}'\nname = 'P'\ntime_zone = 'UTC'\nhistory_start = 2025-01-01\n" for one in ids
    )


def write_settings(folder: Path, platform: Any, *, practices: int, days: int = 10, more: str = "") -> Path:
    """Write the settings file for so many of the platform's practices; credentials stay in the environment."""
    start = platform.now().date() - timedelta(days=days)
    tables = "".join(
        f"[[practices]]\nid = '{practice.id}'\nname = 'P'\n"
        f"time_zone = '{practice.time_zone}'\nhistory_start = {start}\n"
        for practice in platform.practices[:practices]
    )
    config = folder / "vetl.toml"
    config.write_text(
        f"[partner]\nbase_url = '{platform.base_url}'\n[phone_calls]\ndetails = 'off'\n{more}\n{tables}", "utf-8"
    )
    return config


@contextmanager
def site(folder: Path, monkeypatch: pytest.MonkeyPatch, *, practices: int = 1) -> Generator[tuple[Any, Path]]:
    """Provide a small frozen platform and the settings file for it."""
    with sandbox.running(practices=practices, days=10, calls=60 * practices, frozen=True) as platform:
        for name, value in credentials(platform).items():
            monkeypatch.setenv(name, value)
        yield platform, write_settings(folder, platform, practices=practices)
