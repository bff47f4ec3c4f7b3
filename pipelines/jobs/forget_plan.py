"""Forgettings that are under way: a file beside the warehouse, written before anything is changed.

It holds the values of the person, since what was done already cannot be looked up a second time. It is its owner's
alone, and is removed when a scan has found that nothing is left.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pipelines.core.errors import WarehouseError
from pipelines.loading.person import Person

STEPS = ("rows", "inbox", "private file", "published files", "lakes", "scan")
"""What a forgetting consists of, in this order."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One forgetting: whom, the steps done, and once they are known the pseudonym and the rows under it."""

    person: Person
    pseudonym: str | None = None
    rows: dict[str, int] = field(default_factory=dict[str, int])
    deliveries: int = 0
    done: tuple[str, ...] = ()

    def is_of(self, practice_id: str, client_id: str) -> bool:
        """Whether this client is meant."""
        return (self.person.practice_id, self.person.client_id) == (practice_id, client_id)

    def after(self, *steps: str, **changes: Any) -> "Plan":  # noqa: ANN401 - fields of a plan
        """The plan when these steps, too, are done."""
        return replace(self, done=tuple(dict.fromkeys((*self.done, *steps))), **changes)

    def again(self) -> "Plan":
        """The plan with no step done: something was left."""
        return replace(self, done=())


def plan_file(warehouse: Path) -> Path:
    """Where the plans lie."""
    return warehouse.with_name(f"{warehouse.name}.forgetting.json")


def read_plans(warehouse: Path) -> list[Plan]:
    """Return the forgettings that are not complete.

    Raises:
        WarehouseError: the file that says so cannot be read.
    """
    file = plan_file(warehouse)
    try:
        return [_plan(item) for item in json.loads(file.read_text("utf-8"))]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError):
        raise WarehouseError(
            f"{file}: cannot be read; it says who is to be forgotten: remove it, and forget them again"
        ) from None


def keep_plans(warehouse: Path, plans: Sequence[Plan]) -> None:
    """Replace the file in one rename; without plans there is none.

    Raises:
        WarehouseError: it cannot be written.
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
        raise WarehouseError(f"{file}: cannot be written: {error.strerror}") from None


def _as_json(plan: Plan) -> dict[str, Any]:
    person = {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(plan.person).items()
    }
    return {**asdict(plan), "person": person}


def _plan(document: dict[str, Any]) -> Plan:
    values: dict[str, Any] = {
        name: frozenset(value) if isinstance(value, list) else value for name, value in document["person"].items()
    }
    return Plan(
        Person(**values), document["pseudonym"], document["rows"], document["deliveries"], tuple(document["done"])
    )
