"""The last plan as a file beside the published file, for the dashboard of the account that planned.

It has the words of the tasks, which may name a number, so only its owner may read it.
"""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from vetl.addons.act.planning import ActPlan
from vetl.core.errors import LedgerError, cannot_write
from vetl.store.drafts import remove_leftovers, replace_text


def plan_file(published: Path) -> Path:
    """Return the path of the last plan."""
    return published.resolve().with_name("act-plan.json")


def plan_json(plan: ActPlan) -> dict[str, Any]:
    """Return a plan as JSON: its digest, and lists of acts, requests held back, cancellations and certificates."""
    return {
        "digest": plan.digest,
        "acts": [asdict(act) for act in plan.acts],
        "held_back": [asdict(item) for item in plan.held_back],
        "cancellations": [
            {"practice_id": act.practice_id, "episode_id": act.episode_id, "kind": act.kind}
            for act in plan.cancellations
        ],
        "certificates": [asdict(item) for item in plan.certificates],
    }


def write_plan(published: Path, plan: ActPlan, at: datetime) -> None:
    """Replace the last plan by this one."""
    file = plan_file(published)
    try:
        replace_text(file, json.dumps({"planned_at": at, **plan_json(plan)}, default=str))
    except OSError as error:
        raise LedgerError(cannot_write(file, error)) from None


def remove_plan(published: Path) -> None:
    """Remove the last plan and drafts of it."""
    file = plan_file(published)
    try:
        remove_leftovers(file)
        file.unlink(missing_ok=True)
    except OSError as error:
        raise LedgerError(f"{file}: cannot be removed: {error.strerror}") from None
