"""The manifest of the dbt project, as dbt parsed it for this warehouse."""

import json
from typing import Any

from vetl import bundled
from vetl.jobs.build import dbt_variables
from vetl.jobs.dbt_process import dbt_parse, state_folder
from vetl.settings import Settings


def read_manifest(settings: Settings) -> dict[str, Any]:
    """Return the manifest; write it first if it is missing, cut off or older than the project.

    A dbt that meets a full disk leaves half a manifest, with which no run could begin.
    """
    file = state_folder(settings.warehouse.path) / "target" / "manifest.json"
    written = file.stat().st_mtime if file.exists() else 0.0
    sources = (path for path in bundled.dbt_project().rglob("*") if path.suffix in {".sql", ".yml", ".md", ".csv"})
    if not any(path.stat().st_mtime > written for path in sources):
        try:
            return json.loads(file.read_text("utf-8"))
        except (OSError, ValueError):
            pass
    return json.loads(dbt_parse(settings.warehouse.path, dbt_variables(settings)).read_text("utf-8"))
