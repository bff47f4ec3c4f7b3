"""Real builds of the shipped dbt project, made once for all tests that use them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from support.cells import Query
from support.dbt_build import Build, build
from support.random_rows import CLOCKS, PRACTICES, Tables, every_table
from support.raw_tables import create_warehouse
from support.run_once import shared_result


@pytest.fixture(scope="session")
def rows() -> Tables:
    """Provide the rows of the filled warehouse, as `sync` would have left it."""
    return every_table()


@pytest.fixture(scope="session")
def filled(rows: Tables) -> Build:
    """Provide a build over random rows; all tests share it."""

    def work(folder: Path) -> Build:
        path = folder / "vetl.duckdb"
        done = build(create_warehouse(path, practices=PRACTICES, clocks=CLOCKS, tables=rows), folder)
        assert done.exit_code == 0, done.output
        return done

    return shared_result("filled", work)


@pytest.fixture(scope="session")
def file(filled: Build, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a copy, because DuckDB opens one file only once with one configuration in a process."""
    return Path(shutil.copy(filled.warehouse, tmp_path_factory.mktemp("file")))


@pytest.fixture
def query(filled: Build) -> Iterator[Query]:
    """Provide rows of the filled warehouse, times in UTC."""
    with duckdb.connect(filled.warehouse, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        yield lambda sql: connection.execute(sql).fetchall()
