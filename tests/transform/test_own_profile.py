"""An engineer who knows dbt works on the models with a profile and schemas of their own, by dbt's own command."""

import os
import shutil
import subprocess
from pathlib import Path

from support.dagster_site import BIN, ROOT
from support.dbt_build import Build
from support.warehouse_with_rows import ask

PROFILE = """vetl:
  target: anna
  outputs:
    anna: {{type: duckdb, path: {path}, schema: dbt_anna, threads: 2, settings: {{TimeZone: UTC}}}}
"""


def test_a_profile_of_ones_own_writes_to_its_own_schemas_alone(filled: Build, tmp_path: Path) -> None:
    warehouse = Path(shutil.copy(filled.warehouse, tmp_path))
    (tmp_path / "profiles.yml").write_text(PROFILE.format(path=warehouse), "utf-8")
    places = {"PROFILES_DIR": tmp_path, "TARGET_PATH": tmp_path / "target", "LOG_PATH": tmp_path / "logs"}
    environment = {**os.environ, **{f"DBT_{name}": str(place) for name, place in places.items()}}
    tables = "select distinct schema_name from duckdb_tables() union select schema_name from duckdb_views()"
    before = set(ask(warehouse, tables))

    command = [str(BIN / "dbt"), "build", "--select", "+staff_tasks", "--indirect-selection", "buildable"]
    done = subprocess.run(command, cwd=ROOT / "dbt", env=environment, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout
    added = {name for (name,) in set(ask(warehouse, tables)) - before}
    assert added == {"dbt_anna_staging", "dbt_anna_intermediate", "dbt_anna_marts"}
    own = "from dbt_anna_marts.staff_tasks"
    assert ask(warehouse, f"select count(*) {own}") == ask(warehouse, "select count(*) from marts.staff_tasks")
    assert ask(warehouse, f"select count(*) from ({own} except from marts.staff_tasks)") == [(0,)]
