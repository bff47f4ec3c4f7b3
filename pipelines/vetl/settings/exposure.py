"""Find files and folders with secrets or personal data that everybody may read."""

import stat
from collections.abc import Iterator
from pathlib import Path

from vetl.settings import Settings
from vetl.settings.sources import Sources


def exposed(settings: Settings) -> list[str]:
    """Return a line with the remedy for each private file and folder that everybody on this machine may read."""
    # A group is allowed, because somebody set it on purpose. So are folders that everybody may pass through but
    # not list: analysts need that to reach the published file.
    return [
        *(
            f"{path}: everybody on this machine may read or write it; chmod o-rwx {path}"
            for path in _private(settings)
            if path.exists() and path.stat().st_mode & stat.S_IRWXO
        ),
        *(
            f"{folder}: everybody on this machine may list it or write to it; chmod o-rw {folder}"
            for folder in sorted({path.parent for path in _private(settings) if path.is_file()})
            if folder.exists() and folder.stat().st_mode & (stat.S_IROTH | stat.S_IWOTH)
        ),
    ]


def _private(settings: Settings) -> Iterator[Path]:
    """Yield the private files, and the files beside them: dbt's state, the status, logs of transactions."""
    yield from Sources.find(None).dotenv_files
    for name, section in settings.sections():
        kept = {f"{name}.{key}" for key in section.private_keys}
        for file in (path for key, path in section.places(name) if key in kept):
            yield file
            yield from sorted(file.parent.glob(f"{file.name}[.-]*"))
    yield settings.warehouse.published.resolve().with_name("contacts.duckdb")
