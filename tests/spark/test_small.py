"""`make test-spark`: some models on Spark over a lake, as DuckDB makes them (`make spark`: all models)."""

from pathlib import Path

from spark.on_spark import build
from spark.tables import compared
from support.plot import tell

from pipelines.jobs.build import build_marts
from pipelines.settings import Settings, WarehouseSettings

PYTHON = Path(__file__).parents[2] / "build" / "spark" / "venv" / "bin" / "python"
"""Of the environment that the target makes: vetl's own has no pyspark."""

MODELS = ("appointments_daily", "booking_funnel_daily", "outreach_outcomes_daily")
"""Of them are made: local days, seeds, learnt stages, a change of the clock, both kinds of measures."""


def test_models_built_on_spark_are_equal_to_those_of_duckdb(tmp_path: Path) -> None:
    """Also dbt's tests of these marts pass on Spark."""
    tell(tmp_path)
    warehouse = tmp_path / "vetl.duckdb"
    settings = Settings(warehouse=WarehouseSettings(path=warehouse, published=tmp_path / "analytics.duckdb"))
    assert not build_marts(settings, full_refresh=True).failures

    there = build(settings, PYTHON, tmp_path / "spark", "local[2]", models=MODELS)
    tables = {f"{path.parent.name.removesuffix('.db')}.{path.name}": path for path in there.tables.glob("*.db/*")}
    verdicts = {table.name: str(table) for table in compared(warehouse, there.tables) if table.name in tables}

    assert not there.result.failures
    assert {f"marts.{model}" for model in MODELS} <= verdicts.keys()
    assert not [line for line in verdicts.values() if not line.startswith("equal")]
