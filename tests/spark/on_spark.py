"""The shipped dbt project on Spark: in a process of another Python, which has dbt-spark and pyspark."""

import json
import os
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pipelines.bundled import dbt_project

_VARIABLES = {"instant": "timestamp", "local_time": "timestamp_ntz"}
"""As docs/spark.md tells them to users."""

_DEFAULTS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",  # 200 of a few rows each would take longer to begin than to do
}
"""One small machine, and little data."""


_WRITE = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.enableHiveSupport().config("spark.sql.session.timeZone", "UTC")
spark = builder.config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS").getOrCreate()
for name in sys.argv[2:]:
    spark.table(name).write.parquet(sys.argv[1] + "/" + name.replace(".", ".db/"))
"""
"""Views as files, where the tables lie. For the other Python: this one has no pyspark to import."""


@dataclass(frozen=True, slots=True)
class SparkBuild:
    """A finished build. `tables` holds `<schema>.db/<name>/*.parquet`; `failures` are the messages of nodes."""

    exit_code: int
    statuses: Counter[str]
    failures: list[str]
    tables: Path
    log: Path


def build(python: Path, lake: Path, scratch: Path) -> SparkBuild:
    """`dbt build --target spark` over a lake, with every test; `scratch` takes all that is written."""
    shutil.rmtree(scratch, ignore_errors=True)
    (scratch / "conf").mkdir(parents=True)
    settings = {**_DEFAULTS, "spark.sql.warehouse.dir": str(scratch / "tables")}
    lines = "".join(f"{key} {value}\n" for key, value in settings.items())
    (scratch / "conf" / "spark-defaults.conf").write_text(lines, "utf-8")
    project, log = str(dbt_project()), scratch / "build.log"
    exit_code = _run(
        *(python, "-c", "from dbt.cli.main import cli; cli()", "--no-use-colors", "--no-version-check"),
        *("build", "--target", "spark", "--vars", json.dumps({**_VARIABLES, "lake": str(lake)})),
        *("--project-dir", project, "--profiles-dir", project),
        *("--target-path", str(scratch / "target"), "--log-path", str(scratch / "logs")),
        log=log,
    )
    if exit_code == 0:
        exit_code = _run(python, "-c", _WRITE, str(scratch / "tables"), *_views(scratch / "target"), log=log)
    return _finished(exit_code, scratch, log)


def _run(*command: Path | str, log: Path) -> int:
    """Wait for a process in the log's folder, which is where Spark keeps its catalogue; returns its exit code."""
    environment = {"SPARK_CONF_DIR": str(log.parent / "conf"), "SPARK_LOCAL_IP": "127.0.0.1"}
    with log.open("a", encoding="utf-8") as output:
        return subprocess.run(
            command,
            cwd=log.parent,
            env={**os.environ, **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode


def _views(target: Path) -> list[str]:
    nodes = json.loads((target / "manifest.json").read_text("utf-8"))["nodes"].values()
    return [
        f"{node['schema']}.{node['name']}"
        for node in nodes
        if node["resource_type"] == "model" and node["config"]["materialized"] == "view"
    ]


def _finished(exit_code: int, scratch: Path, log: Path) -> SparkBuild:
    path = scratch / "target" / "run_results.json"
    results = json.loads(path.read_text("utf-8"))["results"] if path.exists() else []
    failures = [
        f"{node['unique_id']}: {' '.join(str(node['message']).split())[:500]}"
        for node in results
        if node["status"] in {"error", "fail", "runtime error"}
    ]
    return SparkBuild(exit_code, Counter(node["status"] for node in results), failures, scratch / "tables", log)
