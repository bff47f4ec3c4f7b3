"""The file beside the warehouse that `vetl status` reads, so that a running sync is never disturbed.

It is written at most once a second and at the end of each command, in one rename; while a sync runs it may be some
seconds old, and says when it was written.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, cast

from pipelines.core.errors import WarehouseError
from pipelines.drafts import replace_text
from pipelines.loading.layout import written_files


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the file says, in JSON values; instants are ISO 8601 in UTC.

    `lists`: an entry for each list of each practice (`Status.lists`). `written_at`: this machine's clock.
    `run`: the last sync or reconcile. `not_started`: the error of a later one that could not begin, and when.
    """

    lists: list[dict[str, Any]] = field(default_factory=list)
    written_at: str | None = None
    run: dict[str, Any] | None = None
    not_started: dict[str, str] | None = None


def snapshot_path(warehouse: Path) -> Path:
    """Where the snapshot lies: beside the file."""
    return warehouse.with_name(f"{warehouse.name}.status.json")


def read_snapshot(warehouse: Path, migrations: Path) -> Snapshot | None:
    """What the last commit left; `None` where nothing has been synced yet.

    Raises:
        WarehouseError: it cannot be read, or a newer vetl has written it.
    """
    snapshots = [_read_one(file, migrations) for file in written_files(warehouse) or [warehouse]]
    there = [snapshot for snapshot in snapshots if snapshot]
    return _of_all(there) if len(there) > 1 else next(iter(there), None)


def _of_all(shards: Sequence[Snapshot]) -> Snapshot:
    """One for several files: the lists of all, and of the latest run. That one shard could not begin is told."""
    runs = [snapshot.run for snapshot in shards if snapshot.run]
    return Snapshot(
        lists=sorted((item for snapshot in shards for item in snapshot.lists), key=itemgetter("practice_id")),
        written_at=max((snapshot.written_at for snapshot in shards if snapshot.written_at), default=None),
        run=max(runs, key=itemgetter("started_at"), default=None),
        not_started=next((snapshot.not_started for snapshot in shards if snapshot.not_started), None),
    )


def _read_one(warehouse: Path, migrations: Path) -> Snapshot | None:
    path = snapshot_path(warehouse)
    try:
        document = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        raise WarehouseError(f"{path}: cannot be read; the next sync writes it anew") from None
    if isinstance(document, list):  # as vetl 0.1.0 wrote it
        return Snapshot(document)
    _refuse(warehouse, document["migration"], migrations)
    return Snapshot(document["lists"], document["written_at"], document["run"], document["not_started"])


def refuse_newer(warehouse: Path, migrations: Path) -> None:
    """For what would open the file without migrating it. Each vetl that migrates a file writes its snapshot anew.

    Raises:
        WarehouseError: a newer vetl has migrated it.
    """
    for file in written_files(warehouse):
        try:
            document = json.loads(snapshot_path(file).read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(document, dict):
            _refuse(file, str(cast("dict[str, Any]", document).get("migration")), migrations)


def _refuse(warehouse: Path, migration: str, migrations: Path) -> None:
    if not (migrations / f"{migration}.sql").exists():
        raise WarehouseError(
            f"{warehouse}: the warehouse is newer than this vetl (it has {migration}): upgrade vetl"
        )


def write_snapshot(warehouse: Path, migration: str, run: Mapping[str, Any] | None, lists: Iterable[str]) -> None:
    """Replace the file; `lists` are JSON objects as text. A sync that could not begin is told until one does."""
    header = {"migration": migration, "written_at": now(), "run": run, "not_started": _still(warehouse, run)}
    _replace(snapshot_path(warehouse), json.dumps(header)[:-1] + ', "lists": [' + ", ".join(lists) + "]}")


def note_not_started(warehouse: Path, error: str) -> None:
    """A command could not begin to read the source: what is here stays, and `vetl status` tells why it is old."""
    path = snapshot_path(warehouse)
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return
    if isinstance(document, dict):
        _replace(path, json.dumps({**document, "not_started": {"at": now(), "error": error}}, ensure_ascii=False))


def _still(warehouse: Path, run: Mapping[str, Any] | None) -> dict[str, str] | None:
    """What the file says of a sync that could not begin, unless one has begun since: a drain reads no list."""
    try:
        document = json.loads(snapshot_path(warehouse).read_text("utf-8"))
        before = document["run"]["run_id"] if document["run"] else None
        return document["not_started"] if before == (run["run_id"] if run else None) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def now() -> str:
    """This machine's clock."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _replace(path: Path, text: str) -> None:
    """Replace the file if it can be replaced: a command that cannot write it goes on."""
    with suppress(OSError):
        replace_text(path, text)
