"""Tests without Spark: unlike tables are noticed, to the last bit, and so is a missing master."""

import math
import socket
from pathlib import Path

import duckdb
import pytest
from spark.tables import Compared, compared
from support.processes import free_port

from pipelines.core.errors import BuildFailed, LakeError
from pipelines.jobs.dbt_process import BuildResult
from pipelines.jobs.spark import dbt_on_spark
from pipelines.settings import Settings, WarehouseSettings
from pipelines.settings.lake import SparkSettings

MART = """
    select 1::bigint as id, 0.3::double as rate, timestamptz '2025-07-01 12:00:00+00' as told_at,
        null::varchar as name
"""


def compare(folder: Path, theirs: str | None) -> Compared:
    """Compare a mart on DuckDB with a substitute for Spark's table of that name."""
    warehouse, files = folder / "vetl.duckdb", folder / "marts.db" / "rates"
    with duckdb.connect(warehouse) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.execute("create schema marts")
        connection.execute(f"create table marts.rates as {MART} union all {MART}")
        if theirs:
            files.mkdir(parents=True)
            connection.execute(f"copy ({theirs}) to '{files}/part-0.parquet' (format parquet)")
    [one] = compared(warehouse, folder)
    return one


def test_views_are_compared_too(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "my vetl.duckdb") as connection:
        connection.execute("create schema marts")
        connection.execute("create view marts.one as select 1 as id")
        connection.execute('create view marts.two as from "my vetl".marts.one')

    tables = compared(tmp_path / "my vetl.duckdb", tmp_path)
    assert [one.name for one in tables if not one.is_equal] == ["marts.one", "marts.two"]


def test_equal_tables_are_equal(tmp_path: Path) -> None:
    one = compare(tmp_path, f"{MART} union all {MART}")

    assert one.is_equal
    assert str(one) == "equal   marts.rates: 2 rows"


@pytest.mark.parametrize(
    ("theirs", "difference"),
    [
        (MART, "1 rows on DuckDB alone, 0 on Spark alone"),
        (
            f"{MART} union all {MART.replace('0.3', str(math.nextafter(0.3, 1)))}",
            "1 rows on DuckDB alone, 1 on Spark",
        ),
        (f"{MART} union all {MART.replace('null', repr(''))}", "1 rows on DuckDB alone, 1 on Spark alone"),
        (
            f"{MART.replace('bigint', 'integer')} union all {MART.replace('bigint', 'integer')}",
            "id BIGINT on DuckDB",
        ),
        (f"select told_at, * exclude (told_at) from ({MART} union all {MART})", "in another order"),
        (None, "it is not on Spark"),
    ],
)
def test_a_difference_is_reported(theirs: str | None, difference: str, tmp_path: Path) -> None:
    one = compare(tmp_path, theirs)

    assert not one.is_equal
    assert str(one).startswith("DIFFERS marts.rates: ")
    assert difference in str(one)


def begin_build(folder: Path, master: str) -> BuildResult:
    """Begin a build of a lake that does not exist."""
    settings = Settings(
        warehouse=WarehouseSettings(path=folder / "vetl.duckdb"),
        spark=SparkSettings(master=master, scratch=folder / "spark"),
    )
    return dbt_on_spark(settings, folder / "work")


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_named_without_its_token(scheme: str, tmp_path: Path) -> None:
    master = f"{scheme}://127.0.0.1:{free_port()}"

    with pytest.raises(BuildFailed, match=f"nobody answers at {master}$"):
        begin_build(tmp_path, f"{master}/;token=secret")


def test_one_of_several_masters_is_enough(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(LakeError, match="there is no lake yet"):
        begin_build(tmp_path, f"spark://127.0.0.1:{free_port()},127.0.0.1:{server.getsockname()[1]}")
