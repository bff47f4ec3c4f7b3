"""`python -m support.untested_vetl`: the command `vetl` with the dbt of the tests, which runs no test of dbt.

The variable `PROJECT_OF_TESTS` may name another dbt project than the shipped one.
"""

import os
import sys
from pathlib import Path

from support import (
    impatient,  # noqa: F401 # pyright: ignore[reportUnusedImport] - its import is its effect
    warm_dbt,
)
from vetl import bundled
from vetl.cli.app import main
from vetl.jobs import dbt_process

if __name__ == "__main__":
    if {"build", "demo", "run"} & set(sys.argv):  # the other commands start in half the time
        from support.mart_builds import untested

        project = Path(os.environ.get("PROJECT_OF_TESTS") or bundled.dbt_project())
        bundled.dbt_project = lambda: project
        dbt_process.COMMAND = warm_dbt.command()
        with untested():
            main()
    main()
