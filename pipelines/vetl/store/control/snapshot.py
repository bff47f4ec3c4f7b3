"""The snapshot: a note beside the warehouse that `vetl status` reads without disturbing a running sync.

The snapshot is replaced at most once a second and at the end of each command. While a sync runs it may be some
seconds old; it contains the time when it was written.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vetl.core.errors import WarehouseError
from vetl.store.control.list_status import ListStatus, list_status_of
from vetl.store.notes import notes_file, read_note, write_note


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The content of the note; instants are ISO 8601 in UTC.

    `lists`: an entry for each list of each practice (`Status.lists`). `written_at`: this machine's clock.
    `run`: the last sync or reconcile that reached the platform.
    """

    lists: list[ListStatus] = field(default_factory=list)
    written_at: str | None = None
    run: dict[str, Any] | None = None


def read_snapshot(warehouse: Path, migrations: Path) -> Snapshot | None:
    """Return the last snapshot; `None` before the first sync."""
    document = read_note(warehouse, "status")
    if document is None:
        return None
    try:
        _refuse(warehouse, document["migration"], migrations)
        lists = [list_status_of(item) for item in document["lists"]]
        return Snapshot(lists, document["written_at"], document["run"])
    except (ValueError, LookupError, TypeError):
        raise WarehouseError(f"{notes_file(warehouse)}: the status cannot be read; run `vetl sync`") from None


def refuse_newer(warehouse: Path, migrations: Path) -> None:
    """Refuse a file of a newer vetl before it is opened without a migration.

    Each vetl that migrates a file replaces its snapshot, so the snapshot names the last migration.
    """
    document = read_note(warehouse, "status")
    if isinstance(document, dict):
        _refuse(warehouse, str(document.get("migration")), migrations)


def _refuse(warehouse: Path, migration: str, migrations: Path) -> None:
    if not (migrations / f"{migration}.sql").exists():
        raise WarehouseError(
            f"{warehouse}: the warehouse is newer than this vetl (it has {migration}): upgrade vetl"
        )


def write_snapshot(warehouse: Path, migration: str, run: Mapping[str, Any] | None, lists: Iterable[str]) -> None:
    """Replace the snapshot; `lists` are JSON objects as text.

    A failure is ignored, because the commit before it has succeeded.
    """
    header = json.dumps({"migration": migration, "written_at": now(), "run": run})
    with suppress(WarehouseError):
        write_note(warehouse, "status", f'{header[:-1]}, "lists": [{", ".join(lists)}]}}')


def now() -> str:
    """Return the time of this machine's clock, as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
