"""Put a backup in the place of what vetl keeps now.

The backup is verified, and all its files lie beside their places, before the first one is replaced. From then on a
mark beside the private file keeps other commands away until the last one is in place: the same command goes on.
"""

import json
import os
import shutil
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from vetl.core.errors import BackupError, cannot_write
from vetl.drafts import draft_for, replace_text
from vetl.jobs.backup import BackedUpFile, Backup, copy_bytes, read_backup, sync_folder
from vetl.jobs.dbt_process import state_folder
from vetl.jobs.kept_files import kept_files, place_of
from vetl.jobs.one_writer import writing
from vetl.publishing.parquet import parquet_folder, write_parquet
from vetl.receiving.inbox import Inbox
from vetl.settings import Settings
from vetl.sqlite_file import is_whole
from vetl.store.writer_lock import restore_mark

STAYS = ("inbox", "-ledger", "dashboard-audit")
"""Ends of the names of files that stay if they exist: they know what was received and sent since the backup."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored backup; `stayed` are the files that were newer than it, `waiting` the deliveries to drain."""

    backup: Backup
    stayed: tuple[Path, ...]
    waiting: int


def restore(settings: Settings, folder: Path) -> Restored:
    """Verify the backup in a folder, then put it in the place of what vetl keeps now."""
    with writing(settings, restoring=True):
        backup = read_backup(folder)
        stayed = [file for file in kept_files(settings) if file.name.endswith(STAYS) and _is_usable(file.path)]
        names = {file.name for file in stayed}
        targets = {file: _target(settings, backup, file) for file in backup.files if file.name not in names}
        try:
            _replace(settings, backup, targets, names)
        except OSError as error:
            raise BackupError(cannot_write(backup.folder, error, "cannot be restored")) from None
        waiting = _drain_again(settings) if "inbox" in names else 0
        if settings.warehouse.parquet and settings.warehouse.published.exists():
            write_parquet(settings.warehouse.published, settings.warehouse.keep)
    return Restored(backup, tuple(file.path for file in stayed), waiting)


def _is_usable(file: Path) -> bool:
    return is_whole(file) if file.suffix == ".sqlite" else True


def _target(settings: Settings, backup: Backup, file: BackedUpFile) -> Path:
    target = place_of(settings, file.name)
    if target is None:
        raise BackupError(f"{backup.folder / file.name}: vetl keeps no such file")
    return target


def _replace(settings: Settings, backup: Backup, targets: dict[BackedUpFile, Path], stayed: set[str]) -> None:
    path = settings.warehouse.path
    with ExitStack() as drafts:
        ready: dict[Path, Path] = {}
        for file, target in targets.items():
            ready[target] = drafts.enter_context(draft_for(target))
            copy_bytes(backup.folder / file.name, ready[target])
            with suppress(PermissionError):  # a group that this account is not in
                os.chown(ready[target], -1, file.group)
            ready[target].chmod(file.mode)
        mark = restore_mark(path)
        replace_text(mark, json.dumps({"folder": str(backup.folder)}))
        sync_folder(mark.parent)
        for file in kept_files(settings):
            if file.name not in stayed and file.path not in ready:
                file.path.unlink()
        for target, draft in ready.items():
            # A log of the replaced database must not be applied to the restored one.
            for log in (".wal", "-wal", "-shm", "-journal"):
                target.with_name(f"{target.name}{log}").unlink(missing_ok=True)
            draft.replace(target)
        for made_again in (state_folder(path), parquet_folder(settings.warehouse.published)):
            shutil.rmtree(made_again, ignore_errors=True)
        for place in {target.parent for target in ready}:
            sync_folder(place)
        mark.unlink()


def _drain_again(settings: Settings) -> int:
    """Let the deliveries that the inbox still has be drained again: the restored file may lack some of them."""
    with Inbox.open(settings.webhooks.inbox) as inbox:
        return inbox.drain_again()
