"""The settings that `vetl dashboard` passes, under their names in the environment."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Config:
    """The file that is shown, and who may see it. Without a password and a header, everybody may.

    `proxies` are the addresses and networks from which `user_header` counts.
    """

    published: Path
    password: str | None = field(repr=False)
    user_header: str | None
    proxies: tuple[str, ...] = ()


def read_config() -> Config:
    """Return the settings of `VETL_WAREHOUSE__PUBLISHED` and of `VETL_DASHBOARD__...` in the environment."""
    return Config(
        Path(os.environ.get("VETL_WAREHOUSE__PUBLISHED") or "warehouse/data/analytics.duckdb"),
        os.environ.get("VETL_DASHBOARD__PASSWORD") or None,
        os.environ.get("VETL_DASHBOARD__USER_HEADER") or None,
        tuple(json.loads(os.environ.get("VETL_DASHBOARD__PROXIES") or "[]")),
    )
