"""Acts of `vetl act` about random rows: of requests that booked or did not, with and without a task."""

from datetime import datetime, timedelta
from random import Random

from support.random_rows import Row, Tables

STATES = (
    "planned", "holdout", "holdout", "asking", "unknown", "made", "made", "made", "refused", "left", "canceled",
)  # fmt: skip


def random_acts(random: Random, tables: Tables, clock: datetime, count: int = 200) -> Tables:
    """Return the rows of `control.acts`: each contact has at most one act."""
    calls = [(row["practice_id"], f"call:{row['call_key']}") for row in tables["phone_calls"]]
    sessions = [(row["practice_id"], f"session:{row['id']}") for row in tables["booking_sessions"]]
    tasks = [(row["practice_id"], row["id"]) for row in tables["staff_tasks"]]
    contacts = [*random.sample([*calls, *sessions[:100]], count), ("ny", "call:taken-back"), ("ny", None)]
    return {"control.acts": [_act(random, number, of, tasks, clock) for number, of in enumerate(contacts)]}


def _act(
    random: Random,
    number: int,
    contact: tuple[str, str | None],
    tasks: list[tuple[str, str]],
    clock: datetime,
) -> Row:
    practice, episode = contact
    state = random.choice(STATES)
    planned = clock - timedelta(microseconds=random.randrange(17 * 86_400_000_000))
    is_made = state in {"made", "left", "canceled"}
    own = [task for of, task in tasks if of == practice]
    return {
        "practice_id": practice,
        "code": f"CODE{number}",
        "kind": random.choice(["call_back", "call_back", "text"]),
        "episode_id": episode,
        "state": state,
        "planned_at": planned,
        "asked_at": planned + timedelta(seconds=3) if is_made and random.random() < 0.9 else None,
        "approved_by": random.choice(["ann", None]),
        "certified_through": random.choice([planned - timedelta(hours=1), None]),
        "task_id": own[number % len(own)] if is_made else None,
        "found_by": random.choice(["answer", "code", "reference"]) if is_made else None,
    }
