"""The one list of the files that vetl keeps: those of a backup, which a forgetting rewrites and searches."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vetl import hooks
from vetl.jobs.dbt_process import state_folder
from vetl.publishing.contacts import contacts_file
from vetl.publishing.parquet import parquet_folder
from vetl.publishing.retention import kept
from vetl.settings import Settings

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


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file of vetl; `name` is the same in every warehouse: `private`, `private.notes.sqlite`, `inbox`."""

    name: str
    path: Path


def kept_files(settings: Settings) -> list[KeptFile]:
    """Return the existing files that vetl keeps."""
    path, published = settings.warehouse.path, settings.warehouse.published.resolve()
    files = [KeptFile(PRIVATE, path), *_beside(path), KeptFile(PUBLISHED, published)]
    files += [KeptFile(f"{PUBLISHED}{item.stem.removeprefix(published.stem)}", item) for item in kept(published)]
    files += [KeptFile(name, place) for name, place in _places(settings).items()]
    return [file for file in files if file.path.is_file()]


def derived_folders(settings: Settings) -> list[Path]:
    """Return the folders of files that are made from the kept ones, and may be removed at any time."""
    path = settings.warehouse.path
    return [
        path.with_name(f"{path.name}.tmp"),
        state_folder(path),
        parquet_folder(settings.warehouse.published),
        *(folder for keeper in hooks.people(settings) for folder in keeper.derived),
    ]


def searched_files(settings: Settings) -> list[Path]:
    """Return the existing files in which a person may stand: kept ones, their logs and drafts, derived ones."""
    files = [file.path for file in kept_files(settings)]
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
        return path.with_name(f"{path.name}{beside[2]}")
    return published.with_name(f"{published.stem}{beside[2]}{published.suffix}")


def _beside(path: Path) -> Iterator[KeptFile]:
    """Yield the files of vetl's state beside the private file."""
    for file in sorted(path.parent.glob(f"{path.name}.*")):
        rest = file.name.removeprefix(path.name)
        if not rest.endswith(_NO_DATA):
            yield KeptFile(f"{PRIVATE}{rest}", file)


def _places(settings: Settings) -> dict[str, Path]:
    published = settings.warehouse.published
    return {
        "contacts": contacts_file(published),
        "inbox": settings.webhooks.inbox,
        "dashboard-audit": settings.dashboard.audit,
        "dashboard-marks": settings.dashboard.marks,
        **{name: path for keeper in hooks.people(settings) for name, path in keeper.files.items()},
    }
