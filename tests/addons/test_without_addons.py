"""vetl works without its addons: the core knows none, and none knows another (`test_architecture.py`)."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.practice_site import site

SCRIPT = """
from pathlib import Path
from vetl import hooks
hooks.BUILT_IN.clear()
import duckdb
from support import warm_dbt
from support.mart_builds import untested
from support.small_project import few_models
from vetl.cli.app import execute
from vetl.cli.commands import groups
from vetl.jobs import dbt_process
dbt_process.COMMAND = warm_dbt.command()
modules = [module for group in groups().values() for module, _ in group.values()]
assert not any(module.startswith("vetl.addons.") for module in modules), modules
assert execute(["--help"]) == 0
with untested(), few_models(Path("few").resolve(), "practices"):
    assert execute(["run"]) == 0
    assert execute(["status"]) == 0
    with duckdb.connect("warehouse/data/vetl.duckdb", read_only=True) as connection:
        [(client,)] = connection.execute("select min(id) from raw.clients").fetchall()
        [(practice,)] = connection.execute("select distinct practice_id from raw.clients").fetchall()
    assert execute(["forget", "--practice", practice, "--client", client, "--yes"]) == 0
assert execute(["status"]) == 0
"""


def test_help_a_run_the_status_and_a_forgetting_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    with site(tmp_path, monkeypatch):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert done.returncode == 0, done.stdout + done.stderr
