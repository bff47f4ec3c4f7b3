"""Locate the rows of each practice: in one private file, or in shards beside it (decision 0802).

With shards, the file of `[warehouse] path` holds the marts, and views of the raw, history and control tables of
the shards. Each shard holds some practices and has a writer of its own.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from vetl.core.errors import WarehouseError
from vetl.drafts import replace_text

Layout = Mapping[str, Sequence[str]]
"""The ids of the practices by the name of their shard; empty with one file for all."""


def shard_file(path: Path, name: str) -> Path:
    """Return `vetl.1.duckdb` for `vetl.duckdb` and `1`."""
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


def shards_of(path: Path) -> dict[str, Path]:
    """Return the existing shards by their catalog name in the file with the views; none with one file."""
    files = {f"shard_{name}": shard_file(path, name) for name in read_layout(path)}
    return {name: file for name, file in files.items() if file.exists()}


def written_files(path: Path) -> list[Path]:
    """Return the existing files that syncs write to: the shards, or the one file."""
    return list(shards_of(path).values()) if read_layout(path) else [path] if path.exists() else []


def read_layout(path: Path) -> dict[str, list[str]]:
    """Return the practices of each shard of the warehouse at this path.

    Raises:
        WarehouseError: the layout file cannot be read.
    """
    file = _layout_file(path)
    try:
        return json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise WarehouseError(f"{file}: cannot be read; it assigns practices to shards") from None


def write_layout(path: Path, layout: Layout) -> None:
    """Write the practices of each shard in one rename; an empty layout means one file again."""
    file = _layout_file(path)
    if not layout:
        file.unlink(missing_ok=True)
        return
    replace_text(file, json.dumps({name: list(practices) for name, practices in layout.items()}))


def _layout_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.shards.json")
