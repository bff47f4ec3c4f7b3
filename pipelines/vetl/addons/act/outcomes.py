"""What became of the tasks that vetl made, from the published file."""

from dataclasses import dataclass

from vetl.core.errors import VetlError
from vetl.publishing.statements import reading
from vetl.settings import Settings

_OUTCOMES = """
    select practice_id, count(*) filter (where task_status = 'pending'),
        count(*) filter (where task_status = 'completed'), count(*) filter (where task_status = 'canceled'),
        count(*) filter (where booked_within_14_days)
    from marts.acts where not holdout group by practice_id order by practice_id
"""


@dataclass(frozen=True, slots=True)
class TaskOutcomes:
    """The tasks of a practice by their status on the platform, and the clients who booked within 14 days."""

    practice_id: str
    pending: int
    completed: int
    canceled: int
    booked: int


def task_outcomes(settings: Settings) -> list[TaskOutcomes]:
    """Return what the published file has about the tasks of vetl; nothing if it cannot be read or lacks them."""
    try:
        with reading(settings.warehouse.published) as read:
            return [TaskOutcomes(*row) for row in read(_OUTCOMES).rows]
    except VetlError:
        return []
