"""dbt's own documentation of the models, with their lineage, as one page: python deploy/site/dbt_docs.py TARGET.

A new, empty warehouse provides the columns of the tables that the models read.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from vetl import bundled
from vetl.endpoints import REGISTRY
from vetl.jobs.dbt_process import COMMAND, environment
from vetl.store.warehouse import Warehouse


def write_dbt_docs(target: Path) -> None:
    """Write one page that loads nothing from elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        warehouse, made = Path(folder) / "vetl.duckdb", Path(folder) / "target"
        Warehouse.open(warehouse, REGISTRY, lock_wait_seconds=0).close()
        project = str(bundled.dbt_project())
        options = ["--project-dir", project, "--profiles-dir", project, "--target-path", str(made)]
        subprocess.run(  # noqa: S603 - this interpreter, with arguments of our own
            [*COMMAND, "--quiet", "docs", "generate", "--static", *options, "--log-path", folder],
            env=environment(warehouse),
            cwd=folder,
            check=True,
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made / "static_index.html", target)


if __name__ == "__main__":
    write_dbt_docs(Path(sys.argv[1]))
