"""Build the marts on Apache Spark from the lake, and publish them like those of DuckDB (docs/spark.md)."""

import json
import os
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vetl.core.errors import BuildFailed, ConfigurationError, LakeError
from vetl.jobs.build import dbt_variables, refuse_while_held, treatments
from vetl.jobs.dbt_process import DATA_ONLY, Advance, BuildResult, dbt_build, state_folder
from vetl.jobs.lake import lake_of_marts, private_lake
from vetl.jobs.one_writer import writing
from vetl.publishing.publication import Published, publish
from vetl.settings import Settings
from vetl.store import writer_lock
from vetl.store.control.activity import recorded
from vetl.store.lake.export import Exported, export_marts, read_manifest
from vetl.store.lake.manifest import Manifest
from vetl.store.lake.marts import write_views

TYPES = {"instant": "timestamp", "local_time": "timestamp_ntz"}
"""Types of columns as Spark spells them, for dbt's variables."""

PORTS = {"spark": 7077, "sc": 15002}
"""Default ports of masters and of Connect servers."""

SCHEMAS = ("staging", "intermediate", "marts", "meta")
"""The schemas of dbt's models."""

_SESSION = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # the practice 003 is not the number 3
    "spark.ui.showConsoleProgress": "false",
}


@dataclass(frozen=True, slots=True)
class SparkBuild:
    """The result of dbt and, if every node was built, the published file and the lake of marts."""

    build: BuildResult
    published: Published | None
    marts: Exported | None


def build_on_spark(settings: Settings, *, advance: Advance = lambda _done, _total: None) -> SparkBuild:
    """Build all marts from the last export of the lake, mask them and publish them.

    Raises:
        BuildFailed: Spark or dbt could not start the build; a failed node is in the result instead.
        ConfigurationError: `[privacy]` names a column that is not personal, or pyspark is not installed.
        LakeError: nothing was exported yet, or a lake cannot be read or written.
        PublicationHeld: the published file was rolled back, and the rollback is not released.
    """
    treatments(settings)
    _refuse_without_spark(settings.spark.master or "")
    work = settings.spark.scratch / "build"
    # The build reads the lake and not the warehouse, which other processes may write meanwhile.
    with writer_lock.writing(work, lock_wait_seconds=settings.warehouse.lock_wait_seconds):
        with recorded(settings.warehouse.path, "build", "build --engine spark") as recorder:
            result = dbt_on_spark(settings, work, advance=advance)
            if result.failures:
                recorder.error = result.failures[0]
                return SparkBuild(result, None, None)
        if settings.spark.published:
            refuse_while_held(settings)
        with writing(settings), recorded(settings.warehouse.path, "publication", "build --engine spark"):
            published, marts = publish_from(settings, work)
        shutil.rmtree(work)
    return SparkBuild(result, published, marts)


def publish_from(settings: Settings, work: Path) -> tuple[Published, Exported]:
    """Mask the marts that `dbt_on_spark` built, and publish them as a file and as a lake of marts.

    Raises:
        ConfigurationError: `[privacy]` names a column that is not personal.
        LakeError: the lake of marts cannot be read or written; the files of its manifest stay.
    """
    source, key = work / "on_spark.duckdb", settings.warehouse.pii_key
    write_views(source, work / "tables" / "marts.db", state_folder(work / "lake") / "target" / "manifest.json")
    published = publish(
        source,
        settings.warehouse.published if settings.spark.published else work / "analytics.duckdb",
        pii=treatments(settings),
        pii_key=key.get_secret_value() if key else None,
        shared=settings.privacy.shared,
        keep=settings.warehouse.keep,
    )
    return published, export_marts(published.path, lake_of_marts(settings))


def dbt_on_spark(
    settings: Settings,
    work: Path,
    *,
    python: str = sys.executable,
    extra: Sequence[str] = DATA_ONLY,
    advance: Advance = lambda _done, _total: None,
) -> BuildResult:
    """Run dbt's build over the lake in a new folder `work`, with tables in `tables/<schema>.db/<name>/*.parquet`.

    Raises:
        BuildFailed: Spark or dbt could not start the build.
        LakeError: nothing was exported yet, or the manifest cannot be read.
    """
    _refuse_without_answer(settings.spark.master or "")
    lake = private_lake(settings)
    manifest = read_manifest(lake)
    if manifest is None:
        raise LakeError(f"{lake.location}: there is no lake yet; run `vetl lake export` first")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(mode=0o700, parents=True)
    schemas = sorted({*SCHEMAS, *(table.split(".")[0] for table in manifest.tables)})
    job = work / "job.json"
    job.write_text(
        json.dumps(
            {
                "master": settings.spark.master,
                "settings": _SESSION,
                "schemas": {schema: str(work / "tables" / f"{schema}.db") for schema in schemas},
                "views": list(_views(manifest, lake.location.replace("s3://", "s3a://", 1))),
            }
        ),
        "utf-8",
    )
    variables: Mapping[str, Any] = {**dbt_variables(settings), **TYPES}
    script = Path(__file__).with_name("spark_session.py")
    return dbt_build(
        work / "lake",
        advance=advance,
        variables=variables,
        command=(python, "-P", str(script), str(job)),
        extra=("--target", "spark", *extra),
    )


def _views(manifest: Manifest, root: str) -> Iterator[str]:
    """Yield a view for each table over the files of its manifest, because its folder also has older files."""
    names: dict[str, list[str]] = {table: [] for table in manifest.tables}
    for file in manifest.files:
        names[file.table].append(file.path.rsplit("/", 1)[1])
    for table, files in names.items():
        schema = manifest.tables[table]
        columns = ", ".join(
            # If all folders are null, as for a table without rows, Spark cannot infer the type.
            f"cast(`{name}` as string) as `{name}`" if name in schema.partitioned_by else f"`{name}`"
            for name in schema.columns
        )
        among = ", ".join(f"'{name}'" for name in files)
        yield (
            f"create or replace view {table} as select {columns}"  # noqa: S608 - names of our own tables and files
            f" from parquet.`{root}/{table.replace('.', '/')}`"
            f" where _metadata.file_name in ({among})"
        )


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
