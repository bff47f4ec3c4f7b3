"""A month in which vetl acts: its tasks are worked, rewritten and canceled, and some of their clients book."""

from datetime import datetime
from pathlib import Path

from support.random_rows import Row
from support.story import Follower
from vetl.addons.act.acts import code_of, codes_in
from vetl.addons.act.job import apply_acts, plan_acts
from vetl.addons.act.ledger import read_ledger
from vetl.addons.act.planning import ActPlan
from vetl.addons.act.settings import ActSettings
from vetl.publishing.statements import query

KIND = "call_back"


def acting(folder: Path, practices: tuple[str, ...]) -> ActSettings:
    """Return settings that allow acting, with a holdout of three in ten."""
    return ActSettings(
        enabled=True,
        practices=practices,
        holdout_percent=30,
        per_practice_per_day=40,
        per_day=1_000,
        ledger=folder / "acts.sqlite",
        stop_file=folder / "act.stop",
    )


def act(follower: Follower) -> list[Row]:
    """Plan and apply; return an act for each request, by the plan and by the tasks on the platform.

    Only the times and the account are the ledger's: vetl alone knows them.
    """
    plan = plan_acts(follower.settings, None)
    result = apply_acts(follower.settings, plan.digest)
    assert (result.sent, result.exit_code) == (len(plan.acts), 0), result
    known = {
        (entry.act.practice_id, entry.act.code): entry
        for entry in read_ledger(ActSettings.of(follower.settings).ledger)
    }
    rows: list[Row] = []
    for (practice, episode), task in _tasks(follower, plan).items():
        entry = known[practice, code_of(practice, KIND, episode)]
        rows.append(
            {
                "practice_id": practice,
                "kind": KIND,
                "episode_id": episode,
                "state": "made" if task else "holdout",
                "planned_at": entry.planned_at,
                "asked_at": entry.asked_at,
                "approved_by": entry.approved_by,
                "certified_through": datetime.fromisoformat(entry.certified_through or ""),
                "task_id": task,
                "found_by": "answer" if task else None,
            }
        )
    return rows


def _tasks(follower: Follower, plan: ActPlan) -> dict[tuple[str, str], str | None]:
    """Return the task of each request on the platform; none for the holdout."""
    tasks = {
        (practice.id, code): task["id"]
        for practice in follower.platform.practices
        for task in follower.platform.truth(practice.id, "staff_tasks")
        for code in codes_in(task["description"])
    }
    acted = {(one.practice_id, one.episode_id): tasks[one.practice_id, one.code] for one in plan.acts}
    return {**acted, **{(one.practice_id, one.episode_id): None for one in plan.holdout}}


def call_back_list_of(follower: Follower) -> dict[tuple[str, str], str | None]:
    """Return the clients of the call-back list as it was built last, by practice and episode."""
    rows = query(
        follower.settings.warehouse.path, "select practice_id, episode_id, client_id from marts.call_back_list"
    )
    return {(practice, episode): client for practice, episode, client in rows.rows}


def work(follower: Follower, acts: list[Row], clients: dict[tuple[str, str], str | None]) -> None:
    """Complete and cancel tasks, rewrite some; every third client with an act books, every sixth left alone."""
    platform, now = follower.platform, follower.platform.now()
    for number, row in enumerate(acts):
        practice, client = row["practice_id"], clients[row["practice_id"], row["episode_id"]]
        if row["task_id"]:
            changes: Row = {"updated_at": now}
            if number % 4:
                changes |= {"status": "canceled" if number % 4 == 1 else "completed", "finalized_at": now}
            if number % 5 == 0:
                changes |= {"description": "Ann has spoken to them."}
            platform.update(practice, "staff_tasks", row["task_id"], changes)
        if client and number % (3 if row["task_id"] else 6) == 0:
            person = platform.platform.directory(practice).client_row(client)
            platform.insert(practice, "appointments", {"remote_client_id": person.get("remote_client_id")})
