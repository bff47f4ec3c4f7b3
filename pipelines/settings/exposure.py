"""Files and folders that hold secrets or personal data, and that others than their owner may read."""

import stat
from collections.abc import Iterator
from pathlib import Path

from pipelines.settings import Settings
from pipelines.settings.sources import Sources


def exposed(settings: Settings) -> list[str]:
    """A line for each that everybody on this machine may read, with what to do. A group is taken to be meant.

    Folders that others may pass through are left out: analysts pass to the published file, and read no names.
    """
    return [
        *(
            f"{path}: everybody on this machine may read or write it; chmod o-rwx {path}"
            for path in _private(settings)
            if path.exists() and path.stat().st_mode & stat.S_IRWXO
        ),
        *(
            f"{folder}: everybody on this machine may list it or write to it; chmod o-rw {folder}"
            for folder in sorted({settings.warehouse.path.parent, settings.webhooks.inbox.parent})
            if folder.exists() and folder.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH)
        ),
    ]


def _private(settings: Settings) -> Iterator[Path]:
    """What vetl keeps for its owner, with what lies beside it: the state of dbt, status, logs of transactions."""
    yield from Sources.find(None).dotenv_files
    for file in (settings.warehouse.path, settings.webhooks.inbox):
        yield file
        yield from sorted(file.parent.glob(f"{file.name}[.-]*"))
    yield settings.warehouse.published.resolve().with_name("contacts.duckdb")
    yield settings.spark.scratch
    if "://" not in settings.lake.path:
        yield Path(settings.lake.path)
