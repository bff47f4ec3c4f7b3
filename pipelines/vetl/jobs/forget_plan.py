"""The plans of unfinished forgettings: a file beside the warehouse, written before the first change.

The file contains the values of the person, because finished steps have removed them from the warehouse. Only its
owner may read it, and it is removed as soon as a scan finds no value of the person.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from vetl.core.errors import WarehouseError, cannot_write
from vetl.loading.person import Person

STEPS = ("rows", "inbox", "private file", "published files", "lakes", "scan")
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


def plan_file(warehouse: Path) -> Path:
    """Return the path of the file of plans."""
    return warehouse.with_name(f"{warehouse.name}.forgetting.json")


def read_plans(warehouse: Path) -> list[ForgetPlan]:
    """Return the plans of unfinished forgettings.

    Raises:
        WarehouseError: the file of plans cannot be read.
    """
    file = plan_file(warehouse)
    try:
        return [_plan(item) for item in json.loads(file.read_text("utf-8"))]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError):
        raise WarehouseError(
            f"{file}: cannot be read; it names persons to be forgotten: remove it, and forget them again"
        ) from None


def keep_plans(warehouse: Path, plans: Sequence[ForgetPlan]) -> None:
    """Replace the file of plans in one rename, or remove it if there are no plans.

    Raises:
        WarehouseError: the file cannot be written.
    """
    file = plan_file(warehouse)
    draft = file.with_name(f".{file.name}")
    try:
        draft.unlink(missing_ok=True)
        if not plans:
            file.unlink(missing_ok=True)
            return
        handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as written:
            json.dump([_as_json(plan) for plan in plans], written)
            written.flush()
            os.fsync(written.fileno())
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise WarehouseError(cannot_write(file, error)) from None


def _as_json(plan: ForgetPlan) -> dict[str, Any]:
    person = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(plan.person).items()
    }
    return {**asdict(plan), "person": person}


def _plan(document: dict[str, Any]) -> ForgetPlan:
    values: dict[str, Any] = {
        name: frozenset(value) if isinstance(value, list) else value for name, value in document["person"].items()
    }
    return ForgetPlan(
        Person(**values),
        document["pseudonym"],
        document["rows"],
        document["deliveries"],
        tuple(document["done"]),
        document.get("begun_at", ""),
        tuple(document.get("left", ())),
    )
