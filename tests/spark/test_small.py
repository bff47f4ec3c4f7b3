"""`make test-spark`: some models on Spark over a lake, as DuckDB makes them (`make spark`: all models)."""

from collections.abc import Collection
from pathlib import Path

import pytest
from spark.on_spark import SparkBuild, build
from spark.servers import connect
from spark.tables import compared
from support.month_of_events import tell

from pipelines.core.errors import BuildFailed
from pipelines.jobs.build import build_marts
from pipelines.settings import Settings, WarehouseSettings

PYTHON = Path(__file__).parents[2] / "build" / "spark" / "venv" / "bin" / "python"
"""Of the environment that the target makes: vetl's own has no pyspark."""

MODELS = ("appointments_daily", "booking_funnel_daily", "outreach_outcomes_daily")
"""Of them are made: local days, seeds, learnt stages, a change of the clock, both kinds of measures."""

FEWEST = MODELS[1:2]
"""With the fewest models before it."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A warehouse that tells a month, and its marts by DuckDB."""
    folder = tmp_path_factory.mktemp("story")
    tell(folder)
    made = Settings(
        warehouse=WarehouseSettings(path=folder / "vetl.duckdb", published=folder / "analytics.duckdb")
    )
    assert not build_marts(made, full_refresh=True).failures
    return made


def test_models_built_on_spark_are_equal_to_those_of_duckdb(settings: Settings, tmp_path: Path) -> None:
    """Also dbt's tests of these marts pass on Spark."""
    there = build(settings, PYTHON, tmp_path / "spark", "local[2]", models=MODELS)

    _assert_equal(settings, there, MODELS)


def test_a_connect_server_builds_the_same_and_never_into_tables_of_others(
    settings: Settings, tmp_path: Path
) -> None:
    """Its catalogue stays when a build is done: the same folder is built into again, another is refused."""
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
