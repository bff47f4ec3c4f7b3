"""The settings that `vetl dashboard` passes, under their names in the environment."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Config:
    """The file that is shown, and who may see it. Without a password and a header, everybody may.

    `proxies` are the addresses and networks from which `user_header` counts. `users` have the ids of their
    practices, `None` for all. If there are users, nobody else sees anything.
    """

    published: Path
    password: str | None = field(repr=False)
    user_header: str | None
    proxies: tuple[str, ...] = ()
    users: Mapping[str, tuple[str, ...] | None] = field(default_factory=dict[str, tuple[str, ...] | None])
    passwords: Path | None = None
    audit: Path | None = None
    watch: Path | None = None
    marks: Path | None = None
    session_hours: float = 12
    is_made_up: bool = False


def read_config() -> Config:
    """Return the settings of `VETL_WAREHOUSE__PUBLISHED` and of `VETL_DASHBOARD__...` in the environment."""
    return Config(
        Path(os.environ.get("VETL_WAREHOUSE__PUBLISHED") or "warehouse/data/analytics.duckdb"),
        os.environ.get("VETL_DASHBOARD__PASSWORD") or None,
        os.environ.get("VETL_DASHBOARD__USER_HEADER") or None,
        tuple(json.loads(os.environ.get("VETL_DASHBOARD__PROXIES") or "[]")),
        {
            name: None if practices is None else tuple(practices)
            for name, practices in json.loads(os.environ.get("VETL_DASHBOARD__USERS") or "{}").items()
        },
        _path("VETL_DASHBOARD__PASSWORDS"),
        _path("VETL_DASHBOARD__AUDIT"),
        _path("VETL_WATCH__LEDGER"),
        _path("VETL_DASHBOARD__MARKS"),
        float(os.environ.get("VETL_DASHBOARD__SESSION_HOURS") or 12),
        bool(os.environ.get("VETL_DASHBOARD__MADE_UP")),
    )


def _path(variable: str) -> Path | None:
    value = os.environ.get(variable)
    return Path(value) if value else None
