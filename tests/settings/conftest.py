"""Every test starts without settings."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Provide an empty working directory and an environment without settings."""
    monkeypatch.chdir(tmp_path)
    for name in ("CONFIG", "PARTNER__USERNAME", "PARTNER__PASSWORD", "WAREHOUSE__PATH"):
        monkeypatch.delenv(f"VETL_{name}", raising=False)
