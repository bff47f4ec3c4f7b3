"""vetl's definitions with the dbt project that `FEW_MODELS` names, for tests that start a process of Dagster."""

import os
from pathlib import Path

from pipelines import bundled

PROJECT = Path(os.environ["FEW_MODELS"])
bundled.dbt_project = lambda: PROJECT

from pipelines.definitions import defs  # noqa: E402 - the definitions read the project

__all__ = ["defs"]
