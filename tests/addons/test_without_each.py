"""vetl works without any of its addons: the core knows none."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.practice_site import site
from vetl.hooks import BUILT_IN

SCRIPT = """
import sys
from pathlib import Path
from vetl import hooks
hooks.BUILT_IN.remove(sys.argv[1])
import duckdb
from support.small_project import few_models
from vetl.cli.app import execute
from vetl.cli.commands import groups
modules = [module for group in groups().values() for module, _ in group.values()]
assert not any(module.startswith(sys.argv[1] + ".") for module in modules), modules
assert execute(["--help"]) == 0
with few_models(Path("few").resolve(), "practices"):
    assert execute(["run"]) == 0
    assert execute(["status"]) == 0
    with duckdb.connect("warehouse/data/vetl.duckdb", read_only=True) as connection:
        [(client,)] = connection.execute("select min(id) from raw.clients").fetchall()
        [(practice,)] = connection.execute("select distinct practice_id from raw.clients").fetchall()
    assert execute(["forget", "--practice", practice, "--client", client, "--yes"]) == 0
assert execute(["status"]) == 0
"""


@pytest.mark.parametrize("name", BUILT_IN)
def test_help_a_run_the_status_and_a_forgetting_without_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    with site(tmp_path, monkeypatch):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, name], cwd=tmp_path, capture_output=True, text=True, check=False
        )

    assert done.returncode == 0, done.stdout + done.stderr
