"""`make test-spark`: some models on Spark over a lake, compared with DuckDB (`make spark`: all models)."""

from collections.abc import Collection
from pathlib import Path

import pytest
from spark.on_spark import SparkBuild, build
from spark.servers import connect
from spark.tables import compared
from support.month_of_events import play_month
from vetl.core.errors import BuildFailed
from vetl.jobs.build import build_marts
from vetl.settings import Settings, WarehouseSettings

PYTHON = Path(__file__).parents[2] / "build" / "env" / "spark" / "bin" / "python"
"""The Python of the environment that the target makes, because vetl's own has no pyspark."""

MODELS = ("appointments_daily", "booking_funnel_daily", "outreach_outcomes_daily")
"""These models need local days, seeds, learnt stages, a change of the clock, and both kinds of measures."""

FEWEST = MODELS[1:2]
"""The mart with the fewest models before it."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Provide a warehouse with a month of events, and its marts by DuckDB."""
    folder = tmp_path_factory.mktemp("story")
    play_month(folder)
    made = Settings(
        warehouse=WarehouseSettings(path=folder / "vetl.duckdb", published=folder / "analytics.duckdb")
    )
    assert not build_marts(made, full_refresh=True).failures
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


def _assert_equal(settings: Settings, there: SparkBuild, models: Collection[str]) -> None:
    assert not there.result.failures
    tables = {f"{path.parent.name.removesuffix('.db')}.{path.name}": path for path in there.tables.glob("*.db/*")}
    verdicts = {
        table.name: str(table) for table in compared(settings.warehouse.path, there.tables) if table.name in tables
    }
    assert {f"marts.{model}" for model in models} <= verdicts.keys()
    assert not [line for line in verdicts.values() if not line.startswith("equal")]
