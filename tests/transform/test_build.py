"""The build as an operator uses it: silent if all is well, in any folder, in little memory, with its pages."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest
from support.dbt_build import Build, build, run
from support.raw_tables import create_warehouse
from support.warehouse_with_rows import ask
from vetl.bundled import dbt_project
from vetl.jobs.dbt_process import DATA_ONLY, dbt_build

from benchmarks.marts_world import make


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Provide a warehouse without rows, but with a webhook in quarantine, built with every warning an error.

    Without unit tests: they bring their own rows, and `filled` runs them.
    """
    folder = tmp_path_factory.mktemp("empty")
    warehouse = create_warehouse(folder / "vetl.duckdb")
    with duckdb.connect(warehouse) as connection:
        connection.execute(
            "insert into control.quarantine by name (select 'loc-001' as practice_id,"
            " 'message_events' as endpoint, 'content:1' as row_key, 'id: missing' as reason,"
            " '{}' as payload, '' as run_id, now() as first_seen, now() as last_seen)"
        )
    return build(warehouse, folder, "--warn-error", "--exclude-resource-type", "unit_test")


def test_a_warehouse_without_a_row_builds_without_a_warning(empty: Build) -> None:
    assert empty.exit_code == 0, empty.output


def test_an_empty_build_makes_every_mart(empty: Build) -> None:
    tables = ask(
        empty.warehouse, "select distinct table_name from duckdb_columns() where schema_name in ('marts', 'meta')"
    )
    models = dbt_project() / "models"
    marts = [*(models / "marts").rglob("*.sql"), *(models / "meta").rglob("*.sql")]

    assert {path.stem for path in marts} == {name for (name,) in tables}


def test_a_build_keeps_to_its_schemas(empty: Build) -> None:
    schemas = {name for (name,) in ask(empty.warehouse, "select table_schema from information_schema.tables")}

    assert schemas - {"raw", "history", "control"} == {"staging", "intermediate", "marts", "meta"}


def test_a_filled_warehouse_builds(filled: Build) -> None:
    assert filled.results("error", "fail", "skipped", "runtime error") == []


def test_a_model_that_fails_leaves_its_table_and_a_view_becomes_a_table(filled: Build, tmp_path: Path) -> None:
    warehouse = Path(shutil.copy(filled.warehouse, tmp_path))
    table = "select count(*) from intermediate.int_unbooked_requests"
    before = ask(warehouse, table)
    select = ("--select", "int_unbooked_requests")
    variables = {"call_back_within_days": "error('no')::int"}

    failed = dbt_build(warehouse, advance=lambda _done, _total: None, variables=variables, extra=select)

    assert failed.failures
    assert before != [(0,)]
    assert ask(warehouse, table) == before

    with duckdb.connect(warehouse) as connection:
        connection.execute("drop table intermediate.int_unbooked_requests")
        connection.execute("create view intermediate.int_unbooked_requests as select 1 as number")
    assert not dbt_build(warehouse, advance=lambda _done, _total: None, extra=select).failures
    assert ask(warehouse, table) == before


def test_only_the_sources_data_causes_warnings(filled: Build) -> None:
    """Unknown clients, unlisted values, contradictions: reported, not fatal."""
    warned = filled.results("warn")

    assert warned
    assert {name for name in warned if "_should_hold." not in name} == set()
    assert "deprecat" not in filled.output.lower()


def test_a_build_that_spills_ends(tmp_path: Path) -> None:
    """Several threads continue after one of them has spilled; 200 MB are twice what DuckDB needs to continue."""
    warehouse, spilled = tmp_path / "vetl.duckdb", tmp_path / "spilled"
    make(warehouse, 400_000)
    has_spilled: list[bool] = []

    result = dbt_build(
        warehouse,
        advance=lambda _done, _total: has_spilled.append(spilled.is_dir()),
        extra=(*DATA_ONLY, "--exclude", "resource_type:test"),
        limits={"memory_limit": "200MB", "temp_directory": str(spilled)},
    )

    assert result.failures == ()
    assert any(has_spilled), "DuckDB takes the folder away when it is done"


def test_the_site_is_made_without_a_warning(filled: Build, tmp_path: Path) -> None:
    warehouse = Path(shutil.copy(filled.warehouse, tmp_path))

    done = run(warehouse, tmp_path, "--warn-error", "docs", "generate", "--show-all-deprecations")

    assert done.exit_code == 0, done.output
    assert "deprecat" not in done.output.lower()
    catalog = json.loads((tmp_path / "target" / "catalog.json").read_text())
    assert catalog["errors"] is None
    models = {name for name, node in filled.manifest["nodes"].items() if node["resource_type"] == "model"}
    assert models <= catalog["nodes"].keys()
    assert (tmp_path / "target" / "index.html").exists()
