"""Replace a file that vetl publishes, in one rename; keep earlier ones: `analytics.20260116T120000000000Z.duckdb`.

The files that vetl publishes have a mark: only a file with this mark is replaced or removed.
"""

import os
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from vetl.core.errors import WarehouseError, cannot_write
from vetl.store.connection import Connection, as_warehouse_error, busy_in, literal
from vetl.store.drafts import draft_for, give_access, remove_leftovers
from vetl.store.sqlite_file import sync_to_disk


@contextmanager
def replaced(
    file: Path, *schemas: str, first: int, most: int = 0o777, keep: int = 0, failed: str = "cannot be written"
) -> Generator[Path]:
    """Yield the path of a draft, and put the draft in the place of a published file, if there is one at the end.

    `first` is the mode of a new file; another one keeps its group and at `most` this mode. With `keep` the last
    files stay, with the new one. On failure the old file stays, and the draft is removed.

    Raise `WarehouseError` if vetl did not publish the file that is there (`refuse_foreign`), or DuckDB or the disk
    fails; the message says what `failed`.
    """
    try:
        refuse_foreign(file, *schemas)
        with draft_for(file) as draft:
            yield draft
            if not draft.exists():
                return
            give_access(draft, file, first=first, most=most)
            sync_to_disk(draft)
            keep_before(file, keep)
            draft.replace(file)
            if keep:
                remove_kept(file, keep)
            sync_to_disk(file.parent)
    except OSError as error:
        raise WarehouseError(cannot_write(file, error)) from None
    except duckdb.Error as error:
        raise as_warehouse_error(error, file, failed) from None


def remove(file: Path, *schemas: str) -> bool:
    """Remove a file if vetl published it, and return whether it did."""
    try:
        remove_leftovers(file)
        if file.exists():
            refuse_foreign(file, *schemas)
            file.unlink()
            return True
    except WarehouseError:
        pass  # it is not vetl's
    except OSError as error:
        raise WarehouseError(f"{file}: cannot be removed: {error.strerror}") from None
    return False


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


_MARK = "published_by_vetl"
"""A type in the schema of the tables: each copy of the file has it, and readers of tables do not see it."""


_STORAGE_VERSION = "v1.0.0"
"""The storage version that BI tools with an older DuckDB can open."""


def attach_target(connection: Connection, draft: Path, *schemas: str) -> None:
    """Attach a new file as `target`, with these schemas, marked as one that vetl may replace."""
    connection.execute(f"attach {literal(str(draft))} as target (storage_version {literal(_STORAGE_VERSION)})")
    for schema in schemas:
        connection.execute(f"create schema if not exists target.{schema}")
    connection.execute(f"create type target.{schemas[0]}.{_MARK} as enum ('vetl')")


def refuse_foreign(file: Path, *schemas: str) -> None:
    """Make sure that a file may be replaced: it is missing, empty, or vetl published it.

    Then it has only these schemas, and the mark in the first of them.
    """
    if not file.exists() or (file.is_file() and file.stat().st_size == 0):
        return
    try:
        with closing(duckdb.connect()) as connection:
            connection.execute(f"attach {literal(str(file))} as file (read_only)")
            other = connection.execute(
                "select schema_name from duckdb_tables()"
                " where database_name = 'file' and schema_name not in $schemas",
                {"schemas": schemas},
            ).fetchone()
            mark = connection.execute(
                "select 1 from duckdb_types()"
                " where database_name = 'file' and schema_name = $schema and type_name = $mark",
                {"schema": schemas[0], "mark": _MARK},
            ).fetchone()
    except duckdb.Error as error:
        if busy := busy_in(str(error), file):
            raise busy from None
        other = mark = None
    if other or not mark:
        why = f"holds the schema {other[0]}, so " if other else ""
        raise WarehouseError(f"{file}: {why}vetl did not publish it and does not replace it; move it away")
