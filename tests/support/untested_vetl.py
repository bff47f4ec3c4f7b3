"""`python -m support.untested_vetl`: the command `vetl` with the dbt of the tests, which runs no test of dbt."""

from support import warm_dbt
from support.mart_builds import untested

from pipelines.cli.app import main
from pipelines.jobs import dbt_process

if __name__ == "__main__":
    dbt_process.COMMAND = warm_dbt.command()
    with untested():
        main()
