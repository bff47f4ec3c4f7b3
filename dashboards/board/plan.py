"""The last plan of `vetl act plan`: a file that only the account that planned may read."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

COLUMNS = ("practice_id", "kind", "title", "description", "client_id", "episode_id")


@dataclass(frozen=True, slots=True)
class Plan:
    """The acts of a plan, and the number of requests that are held back by reason."""

    planned_at: datetime
    digest: str
    acts: pl.DataFrame
    held_back: pl.DataFrame


def read_plan(published: Path, practices: tuple[str, ...]) -> Plan | None:
    """Return the last plan for these practices; `None` if there is none, or none that this account may read."""
    try:
        plan = json.loads(published.resolve().with_name("act-plan.json").read_text("utf-8"))
        acts = [tuple(act[name] for name in COLUMNS) for act in plan["acts"] if act["practice_id"] in practices]
        reasons = Counter(item["reason"] for item in plan["held_back"] if item["practice_id"] in practices)
        return Plan(
            datetime.fromisoformat(plan["planned_at"]).astimezone(UTC),
            plan["digest"],
            pl.DataFrame(acts, dict.fromkeys(COLUMNS, pl.String), orient="row"),
            pl.DataFrame(reasons.most_common(), {"reason": pl.String, "requests": pl.Int64}, orient="row"),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
