"""`python -m support.untested_vetl`: the command `vetl` with the dbt of the tests, which runs no test of dbt.

The variable `PROJECT_OF_TESTS` may name another dbt project than the shipped one.
"""

import os
import sys
from pathlib import Path

from vetl import bundled
from vetl.cli.app import main

if __name__ == "__main__":
    # Commands that ask a file start in half the time.
    if not {"explain", "metric", "query", "status"} & set(sys.argv):
        from support import impatient  # noqa: F401 # pyright: ignore[reportUnusedImport] - its import is its effect
    if {"build", "demo", "run"} & set(sys.argv):
        from support import warm_dbt
        from support.mart_builds import untested
        from vetl.jobs import dbt_process

        project = Path(os.environ.get("PROJECT_OF_TESTS") or bundled.dbt_project())
        bundled.dbt_project = lambda: project
        dbt_process.COMMAND = warm_dbt.command()
        with untested():
            main()
    main()
