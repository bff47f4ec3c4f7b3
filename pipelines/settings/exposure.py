"""Files that hold secrets or personal data, and that others than their owner may read."""

import stat
from collections.abc import Iterator
from pathlib import Path

from pipelines.settings import Settings
from pipelines.settings.sources import Sources


def exposed(settings: Settings) -> list[str]:
    """A line for each that everybody on this machine may read, with what to do. A group is taken to be meant."""
    return [
        f"{path}: everybody on this machine may read or write it; chmod o-rwx {path}"
        for path in _private(settings)
        if path.is_file() and path.stat().st_mode & stat.S_IRWXO
    ]


def _private(settings: Settings) -> Iterator[Path]:
    yield from Sources.find(None).dotenv_files
    yield settings.warehouse.path
    yield settings.webhooks.inbox
