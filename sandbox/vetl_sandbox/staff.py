"""The practices' staff: they work on tasks that partners created, if the switch `tasks_are_worked` is on."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from vetl_sandbox.ground import Ground
from vetl_sandbox.outreach import within_hours
from vetl_sandbox.resources.resource import Record
from vetl_sandbox.world.practices import Practice

PICKED_UP_AFTER: Final = timedelta(hours=3)
_OF: Final = 20
_LEFT, _CANCELED, _BOOKED = 2, 2, 6
"""Of 20 tasks in a row so many stay pending, are canceled, lead to an appointment; the others are completed."""


class Staff:
    """Create tasks and work on them; `book` makes an appointment for the client of a task, if one is known."""

    def __init__(self, ground: Ground, book: Callable[[Practice, Record], str | None]) -> None:
        self._ground = ground
        self._book = book
        self._taken = 0

    def create(self, practice: Practice, task: dict[str, Any]) -> str:
        """Write a task and return its id."""
        ground = self._ground
        row_id = ground.table(practice.id, "staff_tasks").insert(task, ground.now())
        if ground.switches.tasks_are_worked:
            place = self._taken % _OF
            self._taken += 1
            due = within_hours(ground.now() + PICKED_UP_AFTER, practice)
            ground.agenda.add(due, lambda: self._work(practice, row_id, place))
        return row_id

    def _work(self, practice: Practice, row_id: str, place: int) -> None:
        """Work on a task, unless somebody has done so."""
        ground = self._ground
        with ground.lock:
            table, now = ground.table(practice.id, "staff_tasks"), ground.now()
            task = table.get(row_id, now, ground.switches)
            if task is None or task["status"] != "pending" or place < _LEFT:
                return
            is_canceled = place < _LEFT + _CANCELED
            status = "canceled" if is_canceled else "completed"
            table.update(row_id, {"status": status, "finalized_at": now, "updated_at": now}, now, ground.switches)
        if not is_canceled and place < _LEFT + _CANCELED + _BOOKED:
            self._book(practice, task)
