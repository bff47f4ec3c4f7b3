"""Copies of the published file: as Parquet, for tools that cannot open DuckDB, and with some practices alone.

Parquet is a folder of files and a manifest. A reader that begins with the manifest sees one whole publication: the
manifest is replaced in one rename after its files were written, and these files never change.
"""

import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from vetl.core.errors import WarehouseError, cannot_write
from vetl.core.published_file import DIGESTS, SCHEMAS
from vetl.publishing.marts import copy_comments, count, marts_of, table_of
from vetl.publishing.opened import OF_NO_PRACTICE, rows_of
from vetl.publishing.replacing import attach_target, replaced
from vetl.store.connection import among, as_warehouse_error, literal
from vetl.store.drafts import draft_for

MANIFEST = "manifest.json"
_MODE = 0o640


def parquet_folder(published: Path) -> Path:
    """Return the path of the folder, such as `analytics.parquet` beside `analytics.duckdb`."""
    return published.resolve().with_suffix(".parquet")


def write_parquet(published: Path, files: int) -> Path:
    """Write every mart of the published file unless it was written already; keep the last `files` publications."""
    folder, stat = parquet_folder(published), published.stat()
    if folder.exists() and not _is_ours(folder):
        raise WarehouseError(f"{folder}: vetl did not write this folder, so it is not replaced; move it away")
    version = f"{stat.st_mtime_ns}"
    manifest = folder / MANIFEST
    try:
        if not manifest.exists() or json.loads(manifest.read_text("utf-8"))["version"] != version:
            with draft_for(folder / "files") as draft:
                draft.mkdir()
                document = {"version": version, "tables": _write_marts(published, draft, version)}
                shutil.rmtree(folder / version, ignore_errors=True)
                draft.replace(folder / version)
            _readable(folder, published)
            with draft_for(manifest) as draft:
                draft.write_text(json.dumps(document, indent=2), "utf-8")
                draft.chmod(stat.st_mode & 0o777)
                draft.replace(manifest)
        for old in sorted((old for old in folder.iterdir() if old.name.isdigit()), reverse=True)[files:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise WarehouseError(cannot_write(folder, error)) from None
    except duckdb.Error as error:
        raise as_warehouse_error(error, folder, "cannot be written") from None
    return folder


def remove_parquet(published: Path) -> bool:
    """Remove the folder if vetl wrote it, and return whether it did."""
    folder = parquet_folder(published)
    there = (folder / MANIFEST).exists() and _is_ours(folder)
    if there:
        shutil.rmtree(folder)
    return there


def _is_ours(folder: Path) -> bool:
    """Return whether vetl wrote the folder: its manifest says so, or it holds only drafts and versions."""
    try:
        return {"version", "tables"} <= json.loads((folder / MANIFEST).read_text("utf-8")).keys()
    except FileNotFoundError:
        return folder.is_dir() and all(
            path.name.startswith(".") or path.name.isdigit() for path in folder.iterdir()
        )
    except (OSError, ValueError, AttributeError):
        return False


def _write_marts(published: Path, draft: Path, version: str) -> list[dict[str, Any]]:
    with closing(duckdb.connect()) as connection:
        connection.execute(f"attach {literal(str(published))} as target (read_only)")
        tables: list[dict[str, Any]] = []
        for name, columns in marts_of(connection, "target").items():
            file = draft / f"{name}.parquet"
            connection.execute(f"copy target.{table_of(name)} to {literal(str(file))} (compression zstd)")
            tables.append(
                {
                    "name": name,
                    "path": f"{version}/{file.name}",
                    "rows": count(connection, "target", name),
                    "bytes": file.stat().st_size,
                    "columns": dict(columns),
                }
            )
        return tables


def _readable(folder: Path, published: Path) -> None:
    """Give the files the mode of the published file; accounts that may read a folder may also enter it."""
    mode = published.stat().st_mode & 0o777
    for path in (folder, *folder.rglob("*")):
        path.chmod(mode | (mode & 0o444) >> 2 if path.is_dir() else mode)


def extract(published: Path, target: Path, practices: Sequence[str]) -> dict[str, int]:
    """Write the marts of these practices into a new file, and return the number of rows by table.

    The rows are copied into an empty file, so that no byte of another practice is in it. A table without
    practices is left out, unless it is known to be about none. The digests come with their rows.
    """
    if not published.exists():
        raise WarehouseError(f"{published}: there is no such file yet; `vetl run` makes it")
    if target.exists() and target.samefile(published):
        raise WarehouseError(f"{target}: is the published file; write to another")
    with replaced(target, *SCHEMAS, first=_MODE) as draft:
        return _copied(published, draft, practices)


def _copied(published: Path, draft: Path, practices: Sequence[str]) -> dict[str, int]:
    with closing(duckdb.connect()) as connection:
        connection.execute(f"attach {literal(str(published))} as source (read_only)")
        connection.execute("use source")
        attach_target(connection, draft, *SCHEMAS)
        rows: dict[str, int] = {}
        for table, columns in marts_of(connection).items():
            shown = rows_of(table, practices, has_practice="practice_id" in columns)
            if shown is None:
                continue
            if table == DIGESTS:  # with those of the tables of no practice, which the file has whole
                shown += f" or (practice_id is null and {among('mart', sorted(OF_NO_PRACTICE))})"
            name = table_of(table)
            connection.execute(f"create table target.{name} as from {name} where {shown}")
            rows[table] = count(connection, "target", table)
        copy_comments(connection, rows)
        connection.execute("detach target")
    return rows
