"""The lake in a bucket, on a server that speaks S3 over a real socket."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from pydantic import SecretStr
from support.warehouse_with_rows import Filled, call_line
from vetl.core.errors import LakeError
from vetl.jobs.lake import private_lake, run_export
from vetl.settings import Settings, WarehouseSettings
from vetl.settings.lake import LakeSettings
from vetl.store.lake.export import read_manifest

SECRET = "not for any log"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 - this import takes a second in every process that collects tests

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def settings(folder: Path, endpoint: str, place: str) -> Settings:
    return Settings(
        warehouse=WarehouseSettings(path=folder / "vetl.duckdb"),
        lake=LakeSettings(
            path=place, endpoint=endpoint, access_key=SecretStr("key"), secret_key=SecretStr(SECRET)
        ),
    )


def fill(path: Path, *lines: str) -> None:
    filled = Filled(path)
    filled.replace_days(*lines)
    filled.warehouse.close()


def test_a_lake_in_a_bucket_is_kept_in_step(tmp_path: Path, endpoint: str) -> None:
    access: dict[str, Any] = {"endpoint_override": endpoint, "access_key": "key", "secret_key": SECRET}
    bucket = fs.S3FileSystem(**access, allow_bucket_creation=True)
    bucket.create_dir("practices")
    configured = settings(tmp_path, endpoint, "s3://practices/vetl/lake")
    fill(configured.warehouse.path, call_line())
    first = run_export(configured)
    fill(configured.warehouse.path, call_line(), call_line("2025-05-01 11:00"))
    second = run_export(configured)
    listed = read_manifest(private_lake(configured))
    assert listed is not None
    [calls] = [file for file in listed.files if file.table == "raw.phone_calls"]

    assert calls.path.startswith("raw/phone_calls/practice_id=p1/month=2025-05/")
    with bucket.open_input_file(f"practices/vetl/lake/{calls.path}") as file:
        assert pq.ParquetFile(file).metadata.num_rows == 2
    assert 0 < second.written < first.written

    fill(configured.warehouse.path, call_line())
    assert run_export(configured).removed > 0
    there = {
        item.path.removeprefix("practices/vetl/lake/")
        for item in bucket.get_file_info(fs.FileSelector("practices/vetl/lake", recursive=True))
        if item.type == fs.FileType.File
    }
    now = read_manifest(private_lake(configured))
    assert now is not None
    assert there == {"manifest.json", *now.paths(), *listed.paths()}


def test_a_missing_bucket_is_reported_without_the_key(tmp_path: Path, endpoint: str) -> None:
    configured = settings(tmp_path, endpoint, "s3://nowhere/lake")
    fill(configured.warehouse.path, call_line())

    with pytest.raises(LakeError, match=r"^s3://nowhere/lake: ") as caught:
        run_export(configured)
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(configured)
