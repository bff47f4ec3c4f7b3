"""A team with its own Dagster adds vetl by the YAML of docs/dagster.md, in a project that `dg` finds empty."""

import os
import re
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest
from support.practice_site import practice_tables
from vetl.orchestration.resources import raw_key

PAGE = Path(__file__).parents[2] / "docs" / "dagster.md"
PROJECT = """[project]
name = "hospital"
version = "1"
[tool.dg]
directory_type = "project"
[tool.dg.project]
root_module = "hospital"
"""
OWN = """import dagster as dg

@dg.asset(deps=[dg.AssetKey(["published", "analytics"])])
def our_report() -> None: ...

defs = dg.Definitions(assets=[our_report], executor=dg.multiprocess_executor)
"""


def test_ten_lines_of_yaml_add_vetl_to_a_project_with_an_executor_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [example] = re.findall(r"```yaml\n(type: vetl\.VetlSync\n.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(example.splitlines()) <= 10
    defs = tmp_path / "hospital" / "defs"
    defs.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(PROJECT, "utf-8")
    (tmp_path / "clinics").mkdir()
    (tmp_path / "clinics" / "vetl.toml").write_text(practice_tables("loc-001"), "utf-8")
    for folder in (defs.parent, defs):
        (folder / "__init__.py").touch()
    (defs / "own.py").write_text(OWN, "utf-8")
    scaffold = "from dagster_dg_cli.cli import main; main()", "scaffold", "defs", "vetl.VetlSync", "clinics"
    home = {**os.environ, "DAGSTER_HOME": "", "DAGSTER_DISABLE_TELEMETRY": "yes", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", *scaffold], cwd=tmp_path, env=home, check=True, capture_output=True)
    [scaffolded] = defs.glob("clinics/defs.yaml")
    scaffolded.write_text(example, "utf-8")

    monkeypatch.syspath_prepend(str(tmp_path))
    loaded = dg.load_from_defs_folder(path_within_project=tmp_path)

    graph = loaded.resolve_asset_graph()
    assert {raw_key("phone_calls"), dg.AssetKey(["marts", "practices"]), dg.AssetKey("our_report")} <= set(
        graph.get_all_asset_keys()
    )
    assert loaded.resolve_implicit_global_asset_job_def().executor_def is dg.multiprocess_executor
    watch = loaded.resolve_job_def("watch")
    assert watch.executor_def is dg.in_process_executor
    assert watch.execute_in_process(instance=dg.DagsterInstance.ephemeral()).success
