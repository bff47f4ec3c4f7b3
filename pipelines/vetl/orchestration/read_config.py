"""The configuration of a run that reads lists, as the launchpad shows it."""

from datetime import date
from enum import Enum
from typing import Any

import dagster as dg
from pydantic import Field, field_validator

from vetl.endpoints import REGISTRY


class Again(Enum):
    """How much certified history is read again."""

    no = "no"
    recent = "recent"
    full = "full"


class Read(dg.Config):
    """Practices, lists and days to read. By default everything new of every practice."""

    practices: list[str] = Field(
        default=[],
        description="Ids of practices, as in vetl.toml. Empty: all, or those whose partitions were selected.",
    )
    lists: list[str] = Field(
        default=[],
        description=f"Names of lists. Empty: all. The lists are {', '.join(item.name for item in REGISTRY)}.",
    )
    since: str = Field(
        default="",
        description="A day, such as 2025-01-31, from which everything is read again. Empty: only new rows.",
    )
    reconcile: Again = Field(
        default=Again.no,
        description="Read history again, compare and repair: the last 35 days (recent) or all history (full).",
    )

    @field_validator("since")
    @classmethod
    def _day(cls, text: str) -> str:
        if text:
            date.fromisoformat(text)
        return text

    @property
    def first_day(self) -> date | None:
        """Return `since` as a date."""
        return date.fromisoformat(self.since) if self.since else None


def run_config(again: Again) -> dict[str, Any]:
    """Return the configuration of a run that reads history again, as `again` says."""
    return {"ops": {"sync": {"config": {"reconcile": again.name}}}}


def reads_again(run: dg.DagsterRun) -> bool:
    """Return whether this run reads history again, as nightly and weekly runs do."""
    config: Any = run.run_config
    read = config.get("ops", {}).get("sync", {}).get("config", {})
    return read.get("reconcile", Again.no.name) != Again.no.name
