"""The settings that `vetl dashboard` passes, under their names in the environment."""

import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Config:
    """The shown file, and who may see it. Without a password and a header everybody who reaches it may."""

    published: Path
    password: str | None = field(repr=False)
    user_header: str | None


def read_config() -> Config:
    """Read `VETL_WAREHOUSE__PUBLISHED`, `VETL_DASHBOARD__PASSWORD` and `VETL_DASHBOARD__USER_HEADER`."""
    return Config(
        Path(os.environ.get("VETL_WAREHOUSE__PUBLISHED") or "warehouse/data/analytics.duckdb"),
        os.environ.get("VETL_DASHBOARD__PASSWORD") or None,
        os.environ.get("VETL_DASHBOARD__USER_HEADER") or None,
    )
