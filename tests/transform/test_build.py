"""The build as an operator uses it: silent if all is well, and in any folder."""

import re

import duckdb
import pytest
from support.dbt_build import Build, build
from support.raw_tables import create_warehouse

from pipelines.bundled import dbt_project


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Provide a warehouse without rows, built with every warning an error.

    Without unit tests: they bring their own rows, and `filled` runs them.
    """
    folder = tmp_path_factory.mktemp("empty")
    warehouse = create_warehouse(folder / "vetl.duckdb")
    return build(warehouse, folder, "--warn-error", "--exclude-resource-type", "unit_test")


def test_a_warehouse_without_a_row_builds_without_a_warning(empty: Build) -> None:
    assert empty.exit_code == 0, empty.output


def test_an_empty_build_makes_every_mart(empty: Build) -> None:
    with duckdb.connect(empty.warehouse, read_only=True) as connection:
        tables = connection.execute(
            "select table_name from duckdb_columns() where schema_name = 'marts'"
        ).fetchall()

    assert {path.stem for path in (dbt_project() / "models" / "marts").rglob("*.sql")} == {
        name for (name,) in tables
    }


def test_a_build_keeps_to_its_schemas(empty: Build) -> None:
    with duckdb.connect(empty.warehouse, read_only=True) as connection:
        schemas = connection.execute(
            "select distinct table_schema from information_schema.tables"
            " where table_schema not in ('raw', 'history', 'control')"
        ).fetchall()

    assert {("staging",), ("intermediate",), ("marts",)} == set(schemas)


def test_a_filled_warehouse_builds(filled: Build) -> None:
    assert filled.exit_code == 0, filled.output
    assert filled.results("error", "fail", "skipped", "runtime error") == []


def test_only_the_sources_data_causes_warnings(filled: Build) -> None:
    """Unknown clients, unlisted values, contradictions: reported, not fatal."""
    warned = filled.results("warn")

    assert warned
    assert all(re.search("known_in|accepted_values|books_whom_it_contacted", name) for name in warned)
    assert "deprecat" not in filled.output.lower()
