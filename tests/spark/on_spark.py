"""`vetl lake export` and the Spark build over it, with a Python of its own, which has dbt-spark and pyspark."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from vetl.addons.lake.job import run_export
from vetl.addons.lake.settings import LakeSettings, SparkSettings
from vetl.addons.lake.spark import dbt_on_spark, publish_from
from vetl.jobs.dbt_process import PUBLISHED_ONLY, Advance, BuildResult, state_folder
from vetl.settings import Settings

_DEFAULTS = {
    "spark.driver.memory": "2g",
    # One collector and one compiler: statements over few rows end before better code would pay.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",  # 200 partitions of a few rows would take longer to start than to compute
}
"""Settings for one small machine and little data."""


_TESTS_OF_MARTS = (*PUBLISHED_ONLY, "--indirect-selection", "cautious")
"""Only tests of marts that read no other model, because each statement costs Spark a second."""

_WRITE = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.enableHiveSupport().config("spark.sql.session.timeZone", "UTC")
builder = builder.config("spark.sql.sources.partitionColumnTypeInference.enabled", "false")
spark = builder.config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS").getOrCreate()
for name in sys.argv[2:]:
    spark.table(name).write.parquet(sys.argv[1] + "/" + name.replace(".", ".db/"))
"""
"""Write the views as files for the other Python, because this one has no pyspark."""


@dataclass(frozen=True, slots=True)
class SparkBuild:
    """A finished build. `tables` contains `<schema>.db/<name>/*.parquet`, `published` the masked marts."""

    result: BuildResult
    tables: Path
    published: Path


def build(
    settings: Settings,
    python: Path,
    scratch: Path,
    master: str,
    advance: Advance = lambda _done, _total: None,
    *,
    models: Sequence[str] = (),
) -> SparkBuild:
    """Export, build with every test, publish; `scratch` is the folder for all output.

    With `models`, only these and their inputs are built, with the tests of marts, and nothing is published.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    os.environ |= {"SPARK_CONF_DIR": str(write_defaults(scratch / "conf")), "SPARK_LOCAL_IP": "127.0.0.1"}
    warehouse = settings.warehouse.model_copy(update={"published": scratch / "analytics.duckdb"})
    on_spark = settings.model_copy(
        update={
            "warehouse": warehouse,
            "lake": LakeSettings(path=str(scratch / "lake"), raw=True),
            "spark": SparkSettings(master=master, scratch=scratch),
        }
    )
    run_export(on_spark)
    work = scratch / "build"
    selected = ("--select", *(f"+{model}" for model in models), *_TESTS_OF_MARTS) if models else ()
    result = dbt_on_spark(on_spark, work, python=str(python), extra=selected, advance=advance)
    if not result.failures:
        _write_views(python, work, master)
    if not result.failures and not models:
        publish_from(on_spark, work)
    return SparkBuild(result, work / "tables", warehouse.published)


def write_defaults(folder: Path, more: Mapping[str, str] = MappingProxyType({})) -> Path:
    """Write `spark-defaults.conf` into a new folder."""
    folder.mkdir(parents=True)
    lines = "".join(f"{key} {value}\n" for key, value in {**_DEFAULTS, **more}.items())
    (folder / "spark-defaults.conf").write_text(lines, "utf-8")
    return folder


def _write_views(python: Path, work: Path, master: str) -> None:
    state = state_folder(work / "lake")
    nodes = json.loads((state / "target" / "manifest.json").read_text("utf-8"))["nodes"]
    built = json.loads((state / "target" / "run_results.json").read_text("utf-8"))["results"]
    views = [
        f"{node['schema']}.{node['name']}"
        for node in (nodes.get(result["unique_id"], {}) for result in built)
        if node.get("resource_type") == "model" and node["config"]["materialized"] == "view"
    ]
    command = [python, "-c", _WRITE, work / "tables", *views]
    remote = {"SPARK_REMOTE": master} if master.startswith("sc://") else {}
    # Spark keeps its catalogue in dbt's working directory, unless a server has it.
    subprocess.run(
        command,
        cwd=state,
        env={**os.environ, **remote},
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
