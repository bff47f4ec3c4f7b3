"""dbt over the files of a lake, in one Spark session; run as a script, by a Python that has pyspark and dbt-spark.

Its first argument is a JSON file with `settings` of Spark and `views`; all others are dbt's.
"""

import json
import sys
from pathlib import Path

from dbt.cli.main import cli
from pyspark.sql import SparkSession  # pyright: ignore[reportMissingImports] - an extra


def main() -> None:
    """Make the views, then become dbt, whose adapter finds this session."""
    job = json.loads(Path(sys.argv.pop(1)).read_text("utf-8"))
    builder = SparkSession.builder.enableHiveSupport()
    for name, value in job["settings"].items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    for statement in job["views"]:
        spark.sql(statement)
    cli()


if __name__ == "__main__":
    main()
