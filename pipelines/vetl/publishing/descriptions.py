"""Read the personal columns of the marts, for publishing, and the metrics from their descriptions."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from vetl.core.errors import Permanent
from vetl.core.published_file import CLASSES, SCHEMAS, PersonalClass

_MODELS = {".sql", ".py"}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader in C if PyYAML has it: it takes a tenth of the time."""


def personal_columns(project: Path) -> dict[str, dict[str, PersonalClass]]:
    """Return the personal columns of each mart with their classes, by the mart's table name.

    They are marked `config: meta: {personal: name}` in `models/marts/**/<name>.yml`, or in `models/meta`.

    Raise `Permanent` if a mart is not described, or a class is unknown; nothing may be published then.
    """
    return {path.stem: dict(_marked(path.stem, path.with_suffix(".yml"))) for path in _marts(project)}


def declared_metrics(project: Path) -> dict[str, bool]:
    """Return the names of the metrics, and whether each counts the present state."""
    of_now: dict[str, bool] = {}
    for file in sorted((project / "models").rglob("*.yml")):
        if file.parent.name == "metrics":
            content = _read_yaml(file, file.stat().st_mtime_ns)
            for model in content.get("semantic_models", ()):
                now = model["config"]["meta"].get("of_now", ())
                of_now |= {one["name"]: one["name"] in now for one in model.get("measures", ())}
            of_now |= {one["name"]: False for one in content.get("metrics", ())}
        elif "counts_people:" in file.read_text("utf-8"):
            columns = _described(file.stem, file)["columns"]
            metas = {one["name"]: one.get("config", {}).get("meta", {}) for one in columns}
            of_now |= {name: False for name, meta in metas.items() if "counts_people" in meta}
    return of_now


def _marts(project: Path) -> list[Path]:
    folders = [project / "models" / schema for schema in SCHEMAS]
    models = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in _MODELS)
    if not models:
        raise Permanent(f"{folders[0]}: there are no marts here; is this vetl's dbt project?")
    return models


def _marked(mart: str, description: Path) -> Iterator[tuple[str, PersonalClass]]:
    for column in _described(mart, description).get("columns", ()):
        personal = column.get("config", {}).get("meta", {}).get("personal")
        if personal in CLASSES:
            yield column["name"], personal
        elif personal is not None:
            raise Permanent(f"{description}: {column['name']} is {personal}; known are {', '.join(CLASSES)}")


def _described(mart: str, description: Path) -> dict[str, Any]:
    """Return the entry of a mart in its YAML file."""
    try:
        content = _read_yaml(description, description.stat().st_mtime_ns)
    except FileNotFoundError:
        content = {}
    except yaml.YAMLError as error:
        raise Permanent(f"{description}: not YAML ({' '.join(str(error).split())})") from None
    for model in content.get("models", ()):
        if model["name"] == mart:
            return model
    raise Permanent(
        f"{description}: does not describe the mart {mart}; say there which columns hold personal data"
    )


@lru_cache(maxsize=256)
def _read_yaml(description: Path, _changed_at: int) -> dict[str, Any]:
    """Return the content of a YAML file. A run reads those of all marts several times, which takes 0.1 s each."""
    return yaml.load(description.read_text("utf-8"), Loader=_LOADER) or {}  # noqa: S506 - a safe one
