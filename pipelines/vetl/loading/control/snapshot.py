"""The snapshot: a file beside the warehouse that `vetl status` reads without disturbing a running sync.

The snapshot is replaced at most once a second and at the end of each command, in one rename. While a sync runs it
may be some seconds old; it contains the time when it was written.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from vetl.core.errors import WarehouseError
from vetl.drafts import replace_text
from vetl.loading.control.list_status import ListStatus, list_status_of


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The content of the file; instants are ISO 8601 in UTC.

    `lists`: an entry for each list of each practice (`Status.lists`). `written_at`: this machine's clock.
    `run`: the last sync or reconcile that reached the platform.
    """

    lists: list[ListStatus] = field(default_factory=list)
    written_at: str | None = None
    run: dict[str, Any] | None = None


def snapshot_path(warehouse: Path) -> Path:
    """Return the path of the snapshot beside the warehouse."""
    return warehouse.with_name(f"{warehouse.name}.status.json")


def read_snapshot(warehouse: Path, migrations: Path) -> Snapshot | None:
    """Return the last snapshot; `None` before the first sync.

    Raises:
        WarehouseError: the snapshot cannot be read, or a newer vetl has written it.
    """
    path = snapshot_path(warehouse)
    try:
        document: Any = json.loads(path.read_text("utf-8"))
        if isinstance(document, list):  # vetl 0.1.0 wrote the lists alone
            document = {"lists": document, "written_at": None, "run": None}
        else:
            _refuse(warehouse, document["migration"], migrations)
        lists = [list_status_of(item) for item in document["lists"]]
        return Snapshot(lists, document["written_at"], document["run"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError):
        raise WarehouseError(f"{path}: cannot be read; the next sync writes it again") from None


def refuse_newer(warehouse: Path, migrations: Path) -> None:
    """Refuse a file of a newer vetl before it is opened without a migration.

    Each vetl that migrates a file replaces its snapshot, so the snapshot names the last migration.

    Raises:
        WarehouseError: a newer vetl has migrated the file.
    """
    try:
        document = json.loads(snapshot_path(warehouse).read_text("utf-8"))
    except (OSError, ValueError):
        return
    if isinstance(document, dict):
        _refuse(warehouse, str(cast("dict[str, Any]", document).get("migration")), migrations)


def _refuse(warehouse: Path, migration: str, migrations: Path) -> None:
    if not (migrations / f"{migration}.sql").exists():
        raise WarehouseError(
            f"{warehouse}: the warehouse is newer than this vetl (it has {migration}): upgrade vetl"
        )


def write_snapshot(warehouse: Path, migration: str, run: Mapping[str, Any] | None, lists: Iterable[str]) -> None:
    """Replace the file; `lists` are JSON objects as text."""
    header = {"migration": migration, "written_at": now(), "run": run}
    _replace(snapshot_path(warehouse), json.dumps(header)[:-1] + ', "lists": [' + ", ".join(lists) + "]}")


def now() -> str:
    """Return the time of this machine's clock, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _replace(path: Path, text: str) -> None:
    """Replace the file. A failure is ignored, because the commit before it has succeeded."""
    with suppress(OSError):
        replace_text(path, text)
