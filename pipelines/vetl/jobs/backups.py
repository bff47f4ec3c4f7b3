"""Back up all that vetl keeps into a folder, and put a backup in its place.

A backup has checksums in a manifest that is written last. Before a restore replaces the first file, the backup is
verified and all its files lie beside their places. From then on a mark beside the private file keeps other
commands away until the last one is in place: the same command goes on.

The files of a backup are also those that a forgetting rewrites and searches: there is one list of them.
"""

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from vetl import hooks
from vetl.core.errors import BackupError, WrongUse, cannot_write
from vetl.jobs.dbt_process import state_folder
from vetl.publishing import contacts, copies, replacing
from vetl.receiving.inbox import Inbox
from vetl.settings import Settings
from vetl.store import drafts, sqlite_file, writer_lock
from vetl.store.connection import attached
from vetl.store.file_header import what_is_wrong
from vetl.store.warehouse import existing, writing

_NO_DATA = (".lock", ".tmp", ".dbt", ".wal", ".restoring", "-wal", "-shm", "-journal")
"""Ends of names beside the private file: locks, drafts, dbt's state, logs."""

PRIVATE, PUBLISHED = "private", "published"
_BESIDE = re.compile(rf"({PRIVATE}|{PUBLISHED})((?:\.[A-Za-z0-9_]+)+)")

MADE_AGAIN = (
    "the settings and secrets (vetl.toml, .env, [dashboard] passwords), which belong elsewhere",
    "dbt's state and the folder of [warehouse] parquet, which the next build makes",
    "the tables that addons write elsewhere, which they bring up to date",
)
"""What a backup does not have."""


def kept_files(settings: Settings) -> dict[str, Path]:
    """Return the existing files of vetl by name, the same in every warehouse: `private`, `published`, `inbox`."""
    path, published = settings.warehouse.path, settings.warehouse.published.resolve()
    files = {PRIVATE: path, PUBLISHED: published, **_places(settings)}
    beside = (file.name.removeprefix(path.name) for file in path.parent.glob(f"{path.name}.*"))
    files |= {f"{PRIVATE}{end}": _with_end(path, end) for end in sorted(beside) if not end.endswith(_NO_DATA)}
    files |= {f"{PUBLISHED}{file.stem.removeprefix(published.stem)}": file for file in replacing.kept(published)}
    return {name: file for name, file in files.items() if file.is_file()}


def derived_folders(settings: Settings) -> list[Path]:
    """Return the folders of files that are made from the kept ones, and may be removed at any time."""
    path = settings.warehouse.path
    return [
        path.with_name(f"{path.name}.tmp"),
        state_folder(path),
        copies.parquet_folder(settings.warehouse.published),
        *(folder for keeper in hooks.people(settings) for folder in keeper.derived),
    ]


def searched_files(settings: Settings) -> list[Path]:
    """Return the existing files in which a person may stand: kept ones, their logs and drafts, derived ones."""
    files = list(kept_files(settings).values())
    for file in [file for file in files if file.suffix in (".duckdb", ".sqlite")]:
        files += [*file.parent.glob(f"{file.name}*"), *file.parent.glob(f".{file.name}*")]
    for folder in derived_folders(settings):
        files += folder.rglob("*")
    return sorted({file for file in files if file.is_file()})


def place_of(settings: Settings, name: str) -> Path | None:
    """Return the path of a file by its name; `None` if vetl keeps no file of that name."""
    path, published = settings.warehouse.path, settings.warehouse.published.resolve()
    places = {PRIVATE: path, PUBLISHED: published, **_places(settings)}
    if name in places:
        return places[name]
    beside = _BESIDE.fullmatch(name)
    if beside is None or beside[2].endswith(_NO_DATA):
        return None
    if beside[1] == PRIVATE:
        return _with_end(path, beside[2])
    return published.with_name(f"{published.stem}{beside[2]}{published.suffix}")


def _with_end(path: Path, end: str) -> Path:
    return path.with_name(f"{path.name}{end}")


def _places(settings: Settings) -> dict[str, Path]:
    published = settings.warehouse.published
    return {
        "contacts": contacts.contacts_file(published),
        "inbox": settings.webhooks.inbox,
        "dashboard-audit": settings.dashboard.audit,
        "dashboard-marks": settings.dashboard.marks,
        **{name: path for keeper in hooks.people(settings) for name, path in keeper.files.items()},
    }


MANIFEST = "manifest.json"
_MARK = ".vetl-backup"
"""The first file of a backup. A folder with it and without a manifest is a backup that did not end."""

FORMAT = 1
_CHUNK = 4 * 1024 * 1024
OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class BackedUpFile:
    """A file of a backup, with the SHA-256 of its bytes, and who may read it in its place."""

    name: str
    bytes: int
    sha256: str
    mode: int
    group: int


@dataclass(frozen=True, slots=True)
class Backup:
    """A whole backup."""

    folder: Path
    made_at: datetime
    vetl: str
    files: tuple[BackedUpFile, ...]


def back_up(settings: Settings, folder: Path) -> Backup:
    """Copy all that vetl keeps into a folder that is new, empty, or has a backup that did not end."""
    place, folder = settings.warehouse, folder.absolute()
    existing(place)
    with writing(place):
        try:
            _begin(folder)
            # The log of the private file goes into the file, so that one file is the whole database.
            with attached(place.path, lock_wait_seconds=place.lock_wait_seconds) as connection:
                connection.execute("checkpoint")
            files = tuple(_copied(name, file, folder) for name, file in kept_files(settings).items())
            for file in files:
                check(folder, file)
            backup = Backup(folder, datetime.now(UTC), version("vetl-warehouse"), files)
            _finish(backup)
        except OSError as error:
            raise BackupError(cannot_write(folder, error, "cannot be written")) from None
    return backup


def read_backup(folder: Path) -> Backup:
    """Return the backup in a folder, after its files were compared with their checksums."""
    folder = folder.absolute()
    try:
        document = json.loads((folder / MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        half = f"; `vetl backup {folder}` did not end there" if (folder / _MARK).exists() else ""
        raise BackupError(f"{folder}: has no whole backup{half}") from None
    except (OSError, ValueError):
        raise BackupError(f"{folder / MANIFEST}: cannot be read, or was changed") from None
    backup = _read(folder, document)
    if backup is None:
        raise BackupError(f"{folder / MANIFEST}: was changed, or another version of vetl wrote it")
    for file in backup.files:
        check(folder, file)
    return backup


def _read(folder: Path, document: Any) -> Backup | None:  # noqa: ANN401 - any JSON
    try:
        files = tuple(BackedUpFile(**file) for file in document["files"])
        backup = Backup(folder, datetime.fromisoformat(document["made_at"]), document["vetl"], files)
        return backup if (document["format"], document["sha256"]) == (FORMAT, _digest(files)) else None
    except (KeyError, TypeError, ValueError):
        return None


def check(folder: Path, file: BackedUpFile) -> None:
    """Compare a file of a backup with its checksum."""
    try:
        found = _hash(folder / file.name)
    except OSError as error:
        raise BackupError(f"{folder / file.name}: cannot be read: {error.strerror}") from None
    if found != (file.bytes, file.sha256):
        raise BackupError(f"{folder / file.name}: is not what was backed up: its checksum differs")


def _begin(folder: Path) -> None:
    """Make the folder for its owner alone, and remove the files of a backup that did not end."""
    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"{folder}: is no folder")
    there = [file.name for file in folder.iterdir()] if folder.exists() else []
    if MANIFEST in there:
        raise WrongUse(f"{folder}: has a backup already; give another folder")
    if there and _MARK not in there:
        raise WrongUse(f"{folder}: has other files; give a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    (folder / _MARK).touch(OWNER_ONLY)
    drafts.remove_leftovers(folder / MANIFEST)
    for name in there:
        if name != _MARK and (folder / name).is_file():
            (folder / name).unlink()


def _copied(name: str, file: Path, folder: Path) -> BackedUpFile:
    target, status = folder / name, file.stat()
    if sqlite_file.is_sqlite(file):
        # Other processes may write it at this moment: the receiver, the dashboard.
        sqlite_file.copy_whole(file, target)
        target.chmod(OWNER_ONLY)
    else:
        copy_bytes(file, target)
    if name == PRIVATE and (problem := what_is_wrong(target)):
        raise BackupError(f"{file}: {problem}")
    size, digest = _hash(target)
    return BackedUpFile(name, size, digest, stat.S_IMODE(status.st_mode), status.st_gid)


def copy_bytes(source: Path, target: Path) -> None:
    """Copy a file to a path at which there is nothing, for its owner alone, onto the disk, with its time.

    `vetl status` shows the time of the published file as that of its publication.
    """
    handle = os.open(target, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, OWNER_ONLY)
    with source.open("rb") as read, os.fdopen(handle, "wb") as written:
        shutil.copyfileobj(read, written, _CHUNK)
        written.flush()
        copied = os.fstat(read.fileno())
        os.utime(target, ns=(copied.st_atime_ns, copied.st_mtime_ns))
        os.fsync(written.fileno())


def _hash(file: Path) -> tuple[int, str]:
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as read:
        digest = hashlib.file_digest(read, "sha256")
        return read.tell(), digest.hexdigest()


def _finish(backup: Backup) -> None:
    """Write the manifest in one rename, after everything else is on the disk."""
    sqlite_file.sync_to_disk(backup.folder)
    document = {
        "format": FORMAT,
        "vetl": backup.vetl,
        "made_at": backup.made_at.isoformat(),
        "sha256": _digest(backup.files),
        "files": [asdict(file) for file in backup.files],
    }
    drafts.replace_text(backup.folder / MANIFEST, json.dumps(document, indent=2) + "\n")
    sqlite_file.sync_to_disk(backup.folder)


def _digest(files: Sequence[BackedUpFile]) -> str:
    return hashlib.sha256(json.dumps([asdict(file) for file in files]).encode()).hexdigest()


STAYS = ("inbox", "-ledger", "dashboard-audit")
"""Ends of the names of files that stay if they exist: they know what was received and sent since the backup."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A restored backup; `stayed` are the files that were newer than it, `waiting` the deliveries to drain."""

    backup: Backup
    stayed: tuple[Path, ...]
    waiting: int


def restore(settings: Settings, folder: Path) -> Restored:
    """Verify the backup in a folder, then put it in its place."""
    with writing(settings.warehouse, restoring=True):
        backup = read_backup(folder)
        stayed = {
            name: file
            for name, file in kept_files(settings).items()
            if name.endswith(STAYS) and (file.suffix != ".sqlite" or sqlite_file.is_whole(file))
        }
        targets = {file: _target(settings, backup, file) for file in backup.files if file.name not in stayed}
        try:
            _replace(settings, backup, targets, set(stayed))
        except OSError as error:
            raise BackupError(cannot_write(backup.folder, error, "cannot be restored")) from None
        waiting = _drain_again(settings.webhooks.inbox) if "inbox" in stayed else 0
        if settings.warehouse.parquet and settings.warehouse.published.exists():
            copies.write_parquet(settings.warehouse.published, settings.warehouse.keep)
    return Restored(backup, tuple(stayed.values()), waiting)


def _target(settings: Settings, backup: Backup, file: BackedUpFile) -> Path:
    target = place_of(settings, file.name)
    if target is None:
        raise BackupError(f"{backup.folder / file.name}: vetl keeps no such file")
    return target


def _replace(settings: Settings, backup: Backup, targets: dict[BackedUpFile, Path], stayed: set[str]) -> None:
    path = settings.warehouse.path
    with ExitStack() as stack:
        ready: dict[Path, Path] = {}
        for file, target in targets.items():
            ready[target] = stack.enter_context(drafts.draft_for(target))
            copy_bytes(backup.folder / file.name, ready[target])
            with suppress(PermissionError):  # a group that this account is not in
                os.chown(ready[target], -1, file.group)
            ready[target].chmod(file.mode)
        mark = writer_lock.restore_mark(path)
        drafts.replace_text(mark, json.dumps({"folder": str(backup.folder)}))
        sqlite_file.sync_to_disk(mark.parent)
        for name, file in kept_files(settings).items():
            if name not in stayed and file not in ready:
                file.unlink()
        for target, draft in ready.items():
            # A log of the replaced database must not be applied to the restored one.
            for log in (".wal", "-wal", "-shm", "-journal"):
                target.with_name(f"{target.name}{log}").unlink(missing_ok=True)
            draft.replace(target)
        for made_again in (state_folder(path), copies.parquet_folder(settings.warehouse.published)):
            shutil.rmtree(made_again, ignore_errors=True)
        for place in {target.parent for target in ready}:
            sqlite_file.sync_to_disk(place)
        mark.unlink()


def _drain_again(file: Path) -> int:
    """Let the deliveries that the inbox still has be drained again: the restored file may lack some of them."""
    with Inbox.open(file) as inbox:
        return inbox.drain_again()
