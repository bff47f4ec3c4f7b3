"""dbt as a child process: a few lines of output, no file in its project, no secret in its environment."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import warm_dbt
from support.processes import holding
from support.warehouse_with_rows import ask
from vetl import bundled
from vetl.core.errors import BuildFailed, WarehouseBusy
from vetl.jobs import dbt_process
from vetl.jobs.dbt_process import BuildResult, dbt_build, environment, without_values

PROFILES = """
vetl:
  target: duckdb
  outputs:
    duckdb: {type: duckdb, path: "{{ env_var('VETL_WAREHOUSE__PATH') }}", threads: 1}
"""
PROJECT = 'name: small\nversion: "1.0.0"\nconfig-version: 2\nprofile: vetl\n'
MODELS = {
    "good.sql": "select 1 as id, 'Jane Doe' as name",
    "broken.sql": "select name::integer as number from {{ ref('good') }}",
    "after.sql": "select * from {{ ref('broken') }}",
    "promised.sql": "select 1 as id, 2 as more, 3::decimal(9, 2) as price",
    "good.yml": """
models:
  - name: promised
    config: {contract: {enforced: true}}
    columns: [{name: id, data_type: integer}, {name: price, data_type: double}, {name: gone, data_type: integer}]
  - name: good
    columns:
      - name: id
        data_tests:
          - not_null
          - accepted_values: {arguments: {values: [2], quote: false}, config: {severity: warn}}
""",
}
RULES = """
{{ config(severity='warn', fail_calc='sum(cases)') }}
select 'is even' as rule, count(*) as cases from {{ ref('good') }} where id % 2 = 1
union all
select 'is known', 2
"""
"""It returns what the test `holds` returns."""


Built = tuple[BuildResult, list[tuple[int, int]]]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a small project with one failing node."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "models").mkdir()
    (folder / "tests").mkdir()
    (folder / "tests" / "good_holds.sql").write_text(RULES, "utf-8")
    (folder / "profiles.yml").write_text(PROFILES, "utf-8")
    (folder / "dbt_project.yml").write_text(PROJECT + "models: {small: {+materialized: table}}\n", "utf-8")
    for name, text in MODELS.items():
        (folder / "models" / name).write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundled, "dbt_project", lambda: folder)
        yield folder


@pytest.fixture(scope="module")
def built(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Build with the installed dbt, not with the forked dbt of the tests."""
    before = sorted(path.name for path in project.rglob("*"))
    warehouse = tmp_path_factory.mktemp("warehouse") / "vetl.duckdb"
    steps: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dbt_process, "COMMAND", warm_dbt.COLD)
        result = dbt_build(warehouse, advance=lambda done, total: steps.append((done, total)))
    assert sorted(path.name for path in project.rglob("*")) == before, "dbt wrote into its project"
    return result, steps


def build(folder: Path, **options: Any) -> None:
    dbt_build(folder / "vetl.duckdb", advance=lambda _done, _total: None, **options)


def test_a_failing_node_is_one_line_without_the_row_and_skips_dependent_nodes(built: Built) -> None:
    result, _ = built

    assert (result.exit_code, result.skipped, result.succeeded) == (1, 1, 2)
    failure, _ = sorted(result.failures)
    assert failure.startswith("model broken: ")
    assert "Conversion Error" in failure
    assert "Jane" not in str(result)
    assert "\n" not in failure


def test_a_warning_is_named_and_is_no_failure(built: Built) -> None:
    warning, _ = sorted(built[0].warnings)

    assert warning.startswith("test accepted_values_good_id")
    assert BuildResult(1, 0, (), built[0].warnings, 0.0).exit_code == 0


def test_the_broken_rules_of_a_test_are_named_with_their_cases(built: Built) -> None:
    assert "test good_holds: is even (1), is known (2)" in built[0].warnings


def test_columns_that_differ_from_the_contract_are_named(built: Built) -> None:
    _, failure = sorted(built[0].failures)

    assert failure == (
        "model promised: columns that differ from the contract in its .yml: "
        "gone (missing in definition: INTEGER), more (missing in contract: INTEGER), "
        "price (data type mismatch: DECIMAL(9,2) and DOUBLE)"
    )


def test_a_project_that_does_not_parse_is_one_line(project: Path, tmp_path: Path) -> None:
    bad = project / "models" / "bad.sql"
    bad.write_text("select * from {{ ref('nowhere') }}", "utf-8")
    try:
        with pytest.raises(BuildFailed, match="nowhere"):
            build(tmp_path)
    finally:
        bad.unlink()


@pytest.mark.usefixtures("project")
def test_a_warehouse_that_another_process_holds_is_busy(tmp_path: Path) -> None:
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with holding(hold, tmp_path / "vetl.duckdb"), pytest.raises(WarehouseBusy):
        build(tmp_path)


def test_dbt_ends_although_the_vetl_that_started_it_was_killed(project: Path, tmp_path: Path) -> None:
    """It holds the lock of the warehouse until then."""
    places = ["--project-dir", str(project), "--profiles-dir", str(project), "--target-path", str(tmp_path)]
    command = [*warm_dbt.COLD, "--events", "build", *places, "--log-path", str(tmp_path)]
    variables = {**os.environ, **environment(tmp_path / "vetl.duckdb")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=variables, cwd=tmp_path) as process:
        assert process.stdout
        process.stdout.close()
        try:
            process.wait(60)
        finally:
            process.kill()
    assert process.returncode == 1
    assert ask(tmp_path / "vetl.duckdb", "from good") == [(1, "Jane Doe")]


def test_dbt_gets_only_the_variables_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETL_PARTNER__PASSWORD", "hunter2")
    monkeypatch.setenv("DBT_TARGET", "of another project")

    given = environment(Path("/srv/vetl.duckdb"))

    own = {name: value for name, value in given.items() if name.startswith(("VETL_", "DBT_"))}
    assert own == {"VETL_WAREHOUSE__PATH": "/srv/vetl.duckdb", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}


WITHOUT_ROOM = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    " resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)); from dbt.cli.main import cli; cli()"
)


@pytest.mark.usefixtures("project")
def test_a_full_disk_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match=r"too large.*; make room and run it again$"):
        build(tmp_path, command=(sys.executable, "-c", WITHOUT_ROOM))


def test_a_message_is_one_bounded_line_without_values() -> None:
    line = without_values("Error:\n  Could not convert string 'Jane Doe' to INT32 " + "x" * 1000)

    assert line.startswith("Error: Could not convert string '…' to INT32 xxx")
    assert len(line) < 320
