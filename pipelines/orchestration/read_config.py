"""What a run reads, as the launchpad asks for it."""

from collections.abc import Sequence
from datetime import date
from enum import Enum
from typing import Any

import dagster as dg
from pydantic import Field, field_validator

from pipelines.endpoints import REGISTRY

READ_AGAIN = "vetl/read_again"
"""A tag of runs after the lists: history was read again."""


class Again(Enum):
    """How much of history is read again although it is certified."""

    no = "no"
    recent = "recent"
    full = "full"


class Read(dg.Config):
    """Everything that is new, of every practice, unless it is narrowed here."""

    practices: list[str] = Field(
        default=[],
        description="Ids of practices, as in vetl.toml. None: all, or those whose partitions were chosen.",
    )
    lists: list[str] = Field(
        default=[],
        description=f"Names of lists. None: all. There are {', '.join(item.name for item in REGISTRY)}.",
    )
    since: str = Field(
        default="",
        description="A day, such as 2025-01-31: everything from that day on is read again. Empty: what is new.",
    )
    reconcile: Again = Field(
        default=Again.no,
        description="Read history again, compare and repair: the last 35 days (recent) or all of it (full).",
    )

    @field_validator("since")
    @classmethod
    def _day(cls, text: str) -> str:
        if text:
            date.fromisoformat(text)
        return text

    @property
    def first_day(self) -> date | None:
        """`since` as a day."""
        return date.fromisoformat(self.since) if self.since else None


def run_config(again: Again, practices: Sequence[str] = ()) -> dict[str, Any]:
    """The configuration of a run that reads history of these practices again so far, as the launchpad shows it."""
    named = {"practices": list(practices)} if practices else {}
    return {"ops": {"sync": {"config": {**named, "reconcile": again.name}}}}


def reads_again(run: dg.DagsterRun) -> bool:
    """Whether this run, or one that it follows, reads history again, as the nightly and the weekly schedule do."""
    config: Any = run.run_config
    asked = config.get("ops", {}).get("sync", {}).get("config", {})
    return READ_AGAIN in run.tags or asked.get("reconcile", Again.no.name) != Again.no.name
