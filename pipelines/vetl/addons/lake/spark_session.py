"""Run dbt over the files of a lake in one Spark session; a script for a Python with pyspark and dbt-spark.

Its first argument is a JSON file with `master` and `settings` of Spark, the folder of each of `schemas`, and
`views`; all other arguments are dbt's. If Spark cannot start, the error is written in the format of dbt's own
errors.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from dbt.cli.main import cli
from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports] - an extra

CONNECT = "sc://"


def main() -> None:
    """Create schemas and views, then run dbt, whose adapter finds this session."""
    job = json.loads(Path(sys.argv.pop(1)).read_text("utf-8"))
    try:
        _begin(job)
    except Exception as error:  # noqa: BLE001 - errors of Java, gRPC and Spark share no other class
        event = {"info": {"name": "MainEncounteredError", "level": "error", "msg": f"Spark: {error}"}}
        sys.stdout.write(f"{json.dumps(event)}\n")
        sys.exit(1)
    cli()


def _begin(job: dict[str, Any]) -> None:
    builder = SparkSession.builder.enableHiveSupport()
    master = job["master"]
    if master and master.startswith(CONNECT):
        os.environ["SPARK_REMOTE"] = master  # dbt's adapter reads it, too
    elif master:
        builder = builder.config("spark.master", master)
    for name, value in job["settings"].items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for schema, folder in job["schemas"].items():
        spark.sql(f"create schema if not exists {schema} location '{folder}'")
        there = unquote(urlsplit(spark.catalog.getDatabase(schema).locationUri).path)
        if there != folder:
            raise RuntimeError(
                f"its catalogue has a schema {schema} in {there}; vetl needs a catalogue of its own"
            )
    for statement in job["views"]:
        spark.sql(statement)


if __name__ == "__main__":
    main()
