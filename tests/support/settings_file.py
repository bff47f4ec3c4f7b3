"""Settings that a test writes, and their error messages."""

from pathlib import Path

import pytest
from vetl.core.errors import ConfigurationError
from vetl.settings import load_settings

HARBOR = """
[[practices]]
id = "loc-001"
name = "Harbor Animal Hospital"
time_zone = "America/New_York"
history_start = 2025-01-01
group = "East"
"""
SECRET = "hunter2-do-not-print-this-anywhere"


def written(text: str, name: str = "vetl.toml") -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def complaint() -> str:
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    line = str(caught.value)
    assert "\n" not in line
    assert SECRET not in line
    return line
