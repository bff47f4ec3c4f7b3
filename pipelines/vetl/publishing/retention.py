"""Keep earlier published files beside the current one: `analytics.20260116T120000000000Z.duckdb`."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from vetl.core.errors import WarehouseError


def kept(published: Path) -> list[Path]:
    """Return the earlier files, the latest first."""
    published = published.resolve()
    return sorted(published.parent.glob(f"{published.stem}.[0-9]*Z{published.suffix}"), reverse=True)


def keep_before(published: Path, files: int) -> None:
    """Give the published file a second name before it is replaced, if more than one of the `files` is kept."""
    if published.exists() and files > 1:
        made = datetime.fromtimestamp(published.stat().st_mtime, UTC)
        with suppress(FileExistsError):
            os.link(published, published.with_name(f"{published.stem}.{made:%Y%m%dT%H%M%S%fZ}{published.suffix}"))


def remove_kept(published: Path, files: int = 1) -> list[Path]:
    """Remove files older than the last `files`, which include the published one; return the removed files."""
    gone = kept(published)[files - 1 :]
    for file in gone:
        file.unlink(missing_ok=True)
    return gone


def roll_back(published: Path) -> None:
    """Replace the published file by the one that was published before it, in one rename.

    The replaced file is lost; the next publication makes it again.
    """
    published = published.resolve()
    before = kept(published)
    if not before:
        raise WarehouseError(f"{published}: no earlier file is kept; see warehouse.keep")
    try:
        before[0].replace(published)
    except OSError as error:
        raise WarehouseError(f"{published}: cannot be rolled back: {error.strerror}") from None
