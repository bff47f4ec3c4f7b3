"""Build the marts on Apache Spark from the lake, and publish them like those of DuckDB (docs/spark.md)."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
from deltalake import DeltaTable

from vetl.addons.lake.delta import Lake, LakeError, names_of, sql_types
from vetl.addons.lake.settings import SparkSettings
from vetl.core.errors import BuildFailed, ConfigurationError
from vetl.core.published_file import SCHEMAS as PUBLISHED
from vetl.jobs.build import dbt_variables, refuse_while_held, treatments
from vetl.jobs.dbt_process import DATA_ONLY, Advance, BuildResult, dbt_build, state_folder
from vetl.publishing.publication import Published, publish
from vetl.settings import Settings
from vetl.store import writer_lock
from vetl.store.connection import PRIVATE, Connection, as_vetl_errors, literal, quoted
from vetl.store.warehouse import working
from vetl.store.writer_lock import recorded

TYPES = {"instant": "timestamp", "local_time": "timestamp_ntz"}
"""Types of columns as Spark spells them, for dbt's variables."""

PORTS = {"spark": 7077, "sc": 15002}
"""Default ports of masters and of Connect servers."""

SCHEMAS = ("staging", "intermediate", "marts", "meta")
"""The schemas of dbt's models."""

_SESSION = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.mergeSchema": "true",  # the files of a folder with an earlier vetl lack columns
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # the practice 003 is not the number 3
    "spark.ui.showConsoleProgress": "false",
}


_PARTITION = "decode(encode(cast(`{0}` as string), 'ISO-8859-1'), 'UTF-8') as `{0}`"
"""A value in the name of a folder: Spark reads each escaped byte as a letter, and no type if all are null."""


@dataclass(frozen=True, slots=True)
class SparkBuild:
    """The result of dbt and, if every node was built, the published file."""

    build: BuildResult
    published: Published | None


def build_on_spark(settings: Settings, *, advance: Advance = lambda _done, _total: None) -> SparkBuild:
    """Build all marts of all folders from the lake, mask them and publish them as one file.

    Raise `BuildFailed` if Spark or dbt could not start the build (a failed node is in the result instead),
    `ConfigurationError` if `[privacy]` names a column that is not personal, or pyspark is not installed,
    `LakeError` if no raw tables were exported yet, or the lake cannot be read, `PublicationHeld` if the
    published file was rolled back, and the rollback is not released.
    """
    treatments(settings.privacy)
    spark = SparkSettings.of(settings)
    _refuse_without_spark(spark.master or "")
    work = spark.scratch / "build"
    # The build reads the lake and not the warehouse, which other processes may write meanwhile.
    with writer_lock.writing(work, lock_wait_seconds=settings.warehouse.lock_wait_seconds):
        with recorded(settings.warehouse.path, "build", "build --engine spark") as recorder:
            result = dbt_on_spark(settings, work, advance=advance)
            if result.failures:
                recorder.error = result.failures[0]
                return SparkBuild(result, None)
        refuse_while_held(settings.warehouse)
        with working(settings.warehouse, "publication", "build --engine spark"):
            published = publish_from(settings, work)
        shutil.rmtree(work)
    return SparkBuild(result, published)


def publish_from(settings: Settings, work: Path) -> Published:
    """Mask the marts that `dbt_on_spark` built, and publish them as one file."""
    source, key = work / "on_spark.duckdb", settings.warehouse.pii_key
    write_views(source, work / "tables", state_folder(work / "lake") / "target" / "manifest.json")
    return publish(
        source,
        settings.warehouse.published,
        pii=treatments(settings.privacy),
        pii_key=key.get_secret_value() if key else None,
        shared=settings.privacy.shared,
        keep=settings.warehouse.keep,
    )


def write_views(file: Path, tables: Path, manifest: Path) -> None:
    """Make a file with a view for each `<tables>/<schema>.db/<mart>/*.parquet`, described by dbt's manifest."""
    file.unlink(missing_ok=True)
    nodes = json.loads(manifest.read_text("utf-8"))["nodes"].values()
    marts = [node for node in nodes if node["resource_type"] == "model" and node["schema"] in PUBLISHED]
    with as_vetl_errors(file), closing(duckdb.connect(file)) as connection:
        for schema in PUBLISHED:
            connection.execute(f"create schema {schema}")
        for mart in marts:
            _write_mart(connection, mart, tables / f"{mart['schema']}.db" / mart["name"])


def _write_mart(connection: Connection, mart: dict[str, Any], folder: Path) -> None:
    name = f"{mart['schema']}.{quoted(mart['name'])}"
    files = literal(f"{folder}/*.parquet")
    connection.execute(f"create view {name} as from read_parquet({files}, hive_partitioning = false)")
    connection.execute(f"comment on view {name} is {literal(mart['description'])}")
    for column in mart["columns"].values():
        connection.execute(
            f"comment on column {name}.{quoted(column['name'])} is {literal(column['description'])}"
        )


def dbt_on_spark(
    settings: Settings,
    work: Path,
    *,
    python: str = sys.executable,
    extra: Sequence[str] = DATA_ONLY,
    advance: Advance = lambda _done, _total: None,
) -> BuildResult:
    """Run dbt's build over the lake in a new folder, with tables in `tables/<schema>.db/<name>/*.parquet`."""
    master = SparkSettings.of(settings).master
    _refuse_without_answer(master or "")
    lake = Lake.of(settings)
    views = list(views_of(lake)) if lake.opened("raw.clients") else []
    if not views:
        raise LakeError(
            f"{lake.location}: has no raw tables yet; set [lake] raw = true and run `vetl lake export` first"
        )
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700, parents=True)
    job = work / "job.json"
    job.write_text(
        json.dumps(
            {
                "master": master,
                "settings": _SESSION,
                "schemas": {name: str(work / "tables" / f"{name}.db") for name in sorted((*SCHEMAS, *PRIVATE))},
                "views": views,
            }
        ),
        "utf-8",
    )
    variables: Mapping[str, Any] = {**dbt_variables(settings.practices, settings.definitions), **TYPES}
    script = Path(__file__).with_name("spark_session.py")
    return dbt_build(
        work / "lake",
        advance=advance,
        variables=variables,
        command=(python, "-P", str(script), str(job)),
        extra=("--target", "spark", *extra),
    )


def views_of(lake: Lake) -> Iterator[str]:
    """Yield a view for each private table over its live files, because its folder has replaced ones too."""
    for name in names_of(lake):
        table = lake.opened(name) if name.startswith(tuple(f"{schema}." for schema in PRIVATE)) else None
        if table:
            yield f"create or replace view {name} as {_select(lake, name, table)}"


def _select(lake: Lake, name: str, table: DeltaTable) -> str:
    files = [uri.rpartition("/")[2] for uri in table.file_uris()]
    kinds = sql_types(table.schema())
    if not files:
        columns = ", ".join(f"cast(null as {kind}) as `{column}`" for column, kind in kinds.items())
        return f"select {columns} where false"
    by = table.metadata().partition_columns
    columns = ", ".join(_PARTITION.format(one) if one in by else f"`{one}`" for one in kinds)
    root = lake.place(name).replace("s3://", "s3a://", 1)
    among = ", ".join(f"'{file}'" for file in files)
    return f"select {columns} from parquet.`{root}` where _metadata.file_name in ({among})"


def _refuse_without_spark(master: str) -> None:
    if not (find_spec("pyspark") and find_spec("dbt.adapters.spark")):
        raise ConfigurationError("Spark is not installed here: pip install 'vetl-warehouse[spark]'")
    is_remote = master.startswith("sc://") or "SPARK_REMOTE" in os.environ
    if not is_remote and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise ConfigurationError(
            "there is no Java here, which Spark runs on: install version 17, or set JAVA_HOME"
        )


def _refuse_without_answer(master: str) -> None:
    """Raise `BuildFailed` if no server answers at the address of `master`."""
    # Spark tries for a minute, and Connect's client for ten; their errors do not contain the address.
    scheme, _, rest = master.partition("://")
    if scheme not in PORTS:
        return
    hosts = rest.split("/")[0]
    for host in hosts.split(","):
        with suppress(OSError, ValueError):
            place = urlsplit(f"//{host}")
            address = (place.hostname or "", place.port or PORTS[scheme])
            socket.create_connection(address, timeout=10).close()
            return
    raise BuildFailed(f"Spark: nobody answers at {scheme}://{hosts}")
