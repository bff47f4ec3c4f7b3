"""An environment as `make setup` leaves it."""

import os
import subprocess
import sys

IMPORTS = [sys.executable, "-v", "-c", "import dbt.cli.main, vetl.cli.app, vetl.jobs.sync, vetl.definitions"]


def test_no_command_compiles_modules_where_python_may_write_none() -> None:
    """Many images set the variable; each command would compile every module that it imports again."""
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(IMPORTS, env=plain, check=True, capture_output=True)  # sources that were just edited

    read_only = {**plain, "PYTHONDONTWRITEBYTECODE": "1"}
    imported = subprocess.run(
        IMPORTS, env=read_only, check=True, capture_output=True, text=True
    ).stderr.splitlines()

    assert len([line for line in imported if line.startswith("# code object from '")]) > 1000  # from a .pyc
    assert [line for line in imported if line.startswith("# code object from /")] == []
