"""Where the rows of each practice lie: in one private file, or in shards beside it (decision 0802).

With shards, the file of `[warehouse] path` holds the marts, and raw, history and control as views of the shards;
each of those has some practices and a writer of its own.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipelines.core.errors import WarehouseError
from pipelines.drafts import replace_text

Layout = Mapping[str, Sequence[str]]
"""The ids of its practices by the name of a shard; empty where there is one file for all."""


def shard_file(path: Path, name: str) -> Path:
    """`vetl.duckdb` and `1`: `vetl.1.duckdb`."""
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


def shards_of(path: Path) -> dict[str, Path]:
    """The shards that have rows, by the name by which the file with the views knows each; none with one file."""
    files = {f"shard_{name}": shard_file(path, name) for name in read_layout(path)}
    return {name: file for name, file in files.items() if file.exists()}


def written_files(path: Path) -> list[Path]:
    """The files that syncs write to and that are there: those of the shards, or the one."""
    return list(shards_of(path).values()) if read_layout(path) else [path] if path.exists() else []


def read_layout(path: Path) -> dict[str, list[str]]:
    """Which practices lie in which shard of the warehouse at this path.

    Raises:
        WarehouseError: the file that says so cannot be read.
    """
    file = _layout_file(path)
    try:
        return json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise WarehouseError(f"{file}: cannot be read; it says which practice lies in which shard") from None


def write_layout(path: Path, layout: Layout) -> None:
    """Keep which practices lie in which shard, in one rename; without a layout there is one file again."""
    file = _layout_file(path)
    if not layout:
        file.unlink(missing_ok=True)
        return
    replace_text(file, json.dumps({name: list(practices) for name, practices in layout.items()}))


def _layout_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.shards.json")
