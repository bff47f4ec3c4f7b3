"""A build on Spark without a master or a lake ends in one line."""

import socket
from pathlib import Path
from typing import Any

import pytest
from support.processes import free_port
from vetl.addons.lake.delta import LakeError
from vetl.addons.lake.settings import SparkSettings
from vetl.addons.lake.spark import dbt_on_spark
from vetl.cli import app
from vetl.core.errors import BuildFailed
from vetl.jobs.dbt_process import BuildResult
from vetl.settings import settings_class
from vetl.settings.core_sections import WarehouseSettings


def begin_build(folder: Path, master: str) -> BuildResult:
    sections: dict[str, Any] = {
        "warehouse": WarehouseSettings(path=folder / "vetl.duckdb"),
        "spark": SparkSettings(master=master, scratch=folder / "spark"),
    }
    settings = settings_class()(**sections)
    return dbt_on_spark(settings, folder / "work")


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_named_without_its_token(scheme: str, tmp_path: Path) -> None:
    master = f"{scheme}://127.0.0.1:{free_port()}"

    with pytest.raises(BuildFailed, match=f"nobody answers at {master}$"):
        begin_build(tmp_path, f"{master}/;token=secret")


def test_one_of_several_masters_is_enough(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(LakeError, match="has no raw tables yet"):
        begin_build(tmp_path, f"spark://127.0.0.1:{free_port()},127.0.0.1:{server.getsockname()[1]}")


def test_an_unknown_engine_is_refused_and_spark_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("vetl.toml").touch()

    assert app.execute(["build", "--engine", "flink"]) == 2
    assert capsys.readouterr().err == "vetl: --engine flink: known are duckdb, spark\n"
