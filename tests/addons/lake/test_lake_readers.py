"""A lake has the rows of the published file, whoever reads it, in a folder and in a bucket."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import boto3
import duckdb
import polars as pl
import pytest
from support.lakes import differing, lake_settings, rows_of, table_of
from support.processes import free_port, listens, running, until
from support.warehouse_with_rows import Filled, call_line
from vetl.addons.lake.dagster import definitions
from vetl.addons.lake.delta import Lake, LakeError
from vetl.addons.lake.job import LakeFiles, export_if_set, run_export, status_part
from vetl.addons.lake.settings import LakeSettings
from vetl.core.published_file import DIGESTS
from vetl.orchestration.resources import PUBLISHED
from vetl.settings import Settings
from vetl.store.mentions import Mentions
from vetl.store.person import Person

ODD = ("1042", "00731", "2026-01-15", 'it\'s "odd"; --', "Zoë 🐶", "a/b %2F c", "\\N", " a  b ")
SECRET = "not for any log"
TABLES = (
    "select schema_name || '.' || table_name from duckdb_tables()"
    f" where schema_name in ('marts', 'meta') and table_name <> '{DIGESTS}' order by all"
)


@pytest.fixture(scope="module")
def odd(published: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a folder with a published file, which has practices of odd ids too, and a private file."""
    folder = tmp_path_factory.mktemp("odd")
    Filled(folder / "vetl.duckdb").warehouse.close()
    shutil.copy(published, folder / "analytics.duckdb")
    with closing(duckdb.connect(folder / "analytics.duckdb")) as connection:
        for name in ODD:
            for mart in ("practices", "practice_daily"):
                connection.execute(
                    f"insert into marts.{mart} by name (select * replace (? as practice_id) from marts.{mart}"
                    " where practice_id = 'loc-001')",
                    [name],
                )
    return folder


@pytest.fixture(scope="module")
def settings(odd: Path) -> Settings:
    made = lake_settings(odd, odd / "lake", raw=False)
    before = os.umask(0o077)  # that of the commands
    run_export(made)
    os.umask(before)
    return made


@pytest.mark.parametrize("reader", ["deltalake", "polars", "duckdb"])
def test_every_table_has_the_rows_of_the_published_file(settings: Settings, reader: str) -> None:
    with closing(duckdb.connect(settings.warehouse.published, read_only=True)) as file:
        file.execute("set TimeZone = 'UTC'")
        names = [name for (name,) in file.execute(TABLES).fetchall()]
        assert len(names) > 40
        for name in names:
            table = table_of(settings, name)
            if reader == "deltalake":
                there: Any = table.to_pyarrow_table()
            elif reader == "polars":
                there = pl.scan_delta(Lake.of(settings).place(name)).collect().to_arrow()
            else:
                there = table.to_pyarrow_dataset()
            file.register("there", there)
            assert differing(file, name, "there") == 0, name
    assert set(ODD) < {row["practice_id"] for row in rows_of(settings, "marts.practice_daily")}


def test_marts_are_for_those_who_may_read_the_published_file(settings: Settings) -> None:
    lake = Path(Lake.of(settings).location)
    assert {path.stat().st_mode & 0o777 for path in (lake / "marts").rglob("*.parquet")} == {0o644}
    assert (lake / "marts" / "practices").stat().st_mode & 0o777 == 0o755
    assert {(lake / name).stat().st_mode & 0o777 for name in ("marts", "control")} == {0o755, 0o700}
    assert not (lake / "raw").exists()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Provide a server of S3, as a process: deltalake holds Python's lock while it waits for an answer."""
    port = free_port()
    folder = tmp_path_factory.mktemp("moto")
    with running(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], folder, {**os.environ}
    ):
        until("the server of S3", lambda: listens(port))
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def bucket_keys(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the variables of S3's own tools."""
    for name, value in {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("bucket_keys")
def test_a_lake_in_a_bucket_is_kept_in_step_and_forgets(tmp_path: Path, endpoint: str) -> None:
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        aws_access_key_id="key",
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    )
    client.create_bucket(Bucket="practices")
    settings = lake_settings(tmp_path, "s3://practices/vetl/lake")
    for lines in ([call_line()], [call_line(), call_line("2025-05-01 11:00")]):
        filled = Filled(settings.warehouse.path)
        filled.replace_days(*lines)
        filled.warehouse.close()
        run_export(settings)
    assert len(rows_of(settings, "raw.phone_calls")) == 2
    orphan = "vetl/lake/raw/phone_calls/practice_id=p1/month=2025-05/part-0-of-a-killed-export.parquet"
    client.put_object(Bucket="practices", Key=orphan, Body=b"Jane Doe")
    person = Person("p1", "c-1", frozenset({"c-1"}), names=frozenset({"Nobody Known"}))
    files = LakeFiles(settings)
    assert any("killed-export" in place for place in files.left(person, Mentions(b"key", [])))

    assert files.renew() == ("s3://practices/vetl/lake",)

    there = client.list_objects_v2(Bucket="practices", Prefix="vetl/lake/raw/phone_calls/practice_id")["Contents"]
    assert [item["Key"].rpartition("/")[2] for item in there] == [
        uri.rpartition("/")[2] for uri in table_of(settings, "raw.phone_calls").file_uris()
    ]
    assert list(files.left(person, Mentions(b"key", []))) == []


@pytest.mark.usefixtures("bucket_keys")
def test_a_missing_bucket_is_one_line_without_the_key_and_a_problem_of_status(tmp_path: Path) -> None:
    settings = lake_settings(tmp_path, "s3://nowhere/lake")
    Filled(settings.warehouse.path).warehouse.close()

    with pytest.raises(LakeError, match=r"^s3://nowhere/lake: ") as caught:
        run_export(settings)
    [line] = export_if_set(settings)
    [problem] = status_part(settings).problems

    for text in (str(caught.value), line, problem.line):
        assert "\n" not in text
        assert "NoSuchBucket" in text or "404" in text
        assert SECRET not in text


def test_a_lake_that_is_set_follows_each_publication_and_status_says_so(settings: Settings) -> None:
    [line] = export_if_set(settings)

    assert line.endswith("0 changed, 0 rows in 0 commits")
    [said] = status_part(settings).lines
    assert said.startswith("the lake has ")


def test_dagster_shows_the_lake_behind_the_published_file(settings: Settings) -> None:
    [tables] = (spec for spec in definitions(settings).resolve_all_asset_specs() if spec.deps)

    assert (tables.key.path, [dep.asset_key for dep in tables.deps]) == (["lake", "tables"], [PUBLISHED])
    unset = LakeSettings()
    assert not list(definitions(settings.model_copy(update={"lake": unset})).resolve_all_asset_specs())
