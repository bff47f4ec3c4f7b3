"""`make test-spark`: some models on Spark over a lake, compared with DuckDB (`make spark`: all models)."""

import json
import subprocess
from collections.abc import Collection
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from spark.on_spark import SparkBuild, build
from spark.servers import connect
from spark.tables import compared
from support.lakes import lake_settings
from support.mart_builds import untested
from support.random_rows import CLOCKS, PRACTICES, every_table
from support.raw_tables import create_warehouse
from support.warehouse_with_rows import Filled
from vetl.addons.lake import spark
from vetl.addons.lake.delta import Lake
from vetl.addons.lake.job import run_export
from vetl.core.errors import BuildFailed
from vetl.jobs.build import building
from vetl.jobs.dbt_process import last_of
from vetl.settings import Settings, settings_class
from vetl.settings.core_sections import WarehouseSettings

PYTHON = Path(__file__).parents[2] / "build" / "env" / "spark" / "bin" / "python"
"""The Python of the environment that the target makes, because vetl's own has no pyspark."""

MODELS = ("appointments_daily", "booking_funnel_daily", "outreach_outcomes_daily")
"""These models need local days, seeds, learnt stages, a change of the clock, and both kinds of measures."""

ODD = ["1042", "00731", "2026-01-15", 'it\'s "odd"; --', "Zoë 🐶", "a/b %2F c", "\\N", " a  b "]

READ = """
import json, sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").config("spark.sql.session.timeZone", "UTC")
builder = builder.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
spark = builder.config("spark.ui.enabled", "false").getOrCreate()
for schema in ("raw", "history", "control"):
    spark.sql(f"create schema {schema}")
for view in json.loads(sys.argv[1]):
    spark.sql(view)
assert spark.table("raw.messages").count() == 0
rows = spark.sql("select practice_id, month, outcome, cast(called_at as string) from raw.phone_calls").collect()
print(json.dumps([list(row) for row in rows]))
"""

FEWEST = MODELS[1:2]
"""The mart with the fewest models before it."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Provide a warehouse of random rows, and its marts by DuckDB, built in full as Spark builds them."""
    folder = tmp_path_factory.mktemp("random")
    path = create_warehouse(folder / "vetl.duckdb", practices=PRACTICES, clocks=CLOCKS, tables=every_table())
    made = settings_class()(warehouse=WarehouseSettings(path=path, published=folder / "analytics.duckdb"))
    with untested():
        assert not last_of(building(made, full_refresh=True)).failures
    return made


def test_models_built_on_spark_are_equal_to_those_of_duckdb(settings: Settings, tmp_path: Path) -> None:
    """The tests of these marts by dbt pass on Spark, too."""
    there = build(settings, PYTHON, tmp_path / "spark", "local[2]", models=MODELS)

    _assert_equal(settings, there, MODELS)


def test_a_connect_server_builds_the_same_and_never_into_tables_of_others(
    settings: Settings, tmp_path: Path
) -> None:
    """The catalogue stays after a build: the same folder is used again, another folder is refused."""
    with connect(PYTHON, tmp_path) as master:
        for _ in range(2):
            there = build(settings, PYTHON, tmp_path / "spark", master, models=FEWEST)
            _assert_equal(settings, there, FEWEST)

        with pytest.raises(BuildFailed, match=r"schema control in .*/spark/.* a catalogue of its own"):
            build(settings, PYTHON, tmp_path / "elsewhere", master, models=FEWEST)


def test_spark_reads_practices_of_any_name_from_the_live_files(tmp_path: Path) -> None:
    """Practices with replaced files, and a table without rows."""
    Filled(tmp_path / "vetl.duckdb").warehouse.close()
    lake = lake_settings(tmp_path, tmp_path / "lake")
    for outcome in ("first", "second"):
        with closing(duckdb.connect(lake.warehouse.path)) as connection:
            connection.execute("delete from raw.phone_calls")
            connection.execute(
                "insert into raw.phone_calls by name select unnest($ids) as practice_id,"
                " date '2026-01-15' as call_date,"
                " 'k' as call_key, $outcome as outcome, timestamptz '2026-01-15 10:00:00Z' as called_at",
                {"ids": ODD, "outcome": outcome},
            )
        run_export(lake)
    views = [
        view for view in spark.views_of(Lake.of(lake)) if " raw.phone_calls " in view or " raw.messages " in view
    ]

    read = subprocess.run(
        [PYTHON, "-c", READ, json.dumps(views)], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert sorted(map(tuple, json.loads(read.stdout.splitlines()[-1]))) == sorted(
        (one, "2026-01", "second", "2026-01-15 10:00:00") for one in ODD
    )


def _assert_equal(settings: Settings, there: SparkBuild, models: Collection[str]) -> None:
    assert not there.result.failures
    tables = {f"{path.parent.name.removesuffix('.db')}.{path.name}": path for path in there.tables.glob("*.db/*")}
    verdicts = {
        table.name: str(table) for table in compared(settings.warehouse.path, there.tables) if table.name in tables
    }
    assert {f"marts.{model}" for model in models} <= verdicts.keys()
    assert not [line for line in verdicts.values() if not line.startswith("equal")]
