"""The plans of unfinished forgettings: a note beside the warehouse, written before the first change.

The note contains the values of the person, because finished steps have removed them from the warehouse. It is
erased as soon as a scan finds no value of the person.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from vetl.core.errors import WarehouseError
from vetl.store.notes import notes_except, notes_file, read_note, write_note
from vetl.store.person import Person

_NOTE = "forgettings"

COPIES = "a copy that is not vetl's own, such as a .bak, must be removed by hand"
STEPS = ("rows", "inbox", "private file", "published files", "addons", "scan")
"""The steps of a forgetting, in this order."""


@dataclass(frozen=True, slots=True)
class ForgetPlan:
    """One forgetting: the person, the finished steps, and the pseudonym and its rows as soon as they are known."""

    person: Person
    pseudonym: str | None = None
    rows: dict[str, int] = field(default_factory=dict[str, int])
    deliveries: int = 0
    done: tuple[str, ...] = ()
    begun_at: str = ""
    left: tuple[str, ...] = ()
    """The files that still had a value of the person at the last search."""

    def is_of(self, practice_id: str, client_id: str) -> bool:
        """Return whether the plan is about this client."""
        return (self.person.practice_id, self.person.client_id) == (practice_id, client_id)

    def after(self, *steps: str, **changes: Any) -> "ForgetPlan":  # noqa: ANN401 - fields of a plan
        """Return the plan with these steps finished, too."""
        return replace(self, done=tuple(dict.fromkeys((*self.done, *steps))), **changes)

    def again(self, left: Sequence[str] = ()) -> "ForgetPlan":
        """Return the plan with no step finished, if a value was left in these files."""
        return replace(self, done=(), left=tuple(left))


_PLANS = TypeAdapter(list[ForgetPlan])


def read_plans(warehouse: Path) -> list[ForgetPlan]:
    """Return the plans of unfinished forgettings."""
    note = read_note(warehouse, _NOTE)
    try:
        return _PLANS.validate_python(note or [])
    except ValueError:
        raise WarehouseError(
            f"{notes_file(warehouse)}: names persons to be forgotten, and cannot be read: move it away, and forget"
            " them again"
        ) from None


def keep_plans(warehouse: Path, plans: Sequence[ForgetPlan]) -> None:
    """Replace the plans, or erase them if there are none."""
    write_note(warehouse, _NOTE, _PLANS.dump_python(list(plans), mode="json") or None, erase=True)


def notes_without_plans(warehouse: Path) -> str:
    """Return the text of all notes but the plans."""
    return notes_except(warehouse, _NOTE)
