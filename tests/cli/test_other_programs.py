"""dbt, Dagster and DuckDB's shell, which vetl starts with its settings."""

from pathlib import Path

import pytest

from pipelines import bundled
from pipelines.cli.app import execute

pytestmark = pytest.mark.usefixtures("empty_folder", "configured")


def test_the_options_of_dbt_reach_it(capfd: pytest.CaptureFixture[str]) -> None:
    assert execute(["dbt", "--quiet", "ls", "--select", "practices", "--resource-type", "model"]) == 0
    assert capfd.readouterr().out.split() == ["vetl.marts.practice.practices"]


def test_dagster_gets_the_settings_of_the_deployment_unless_it_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without these settings Dagster sends telemetry, and two runs write at the same time."""
    home = tmp_path / "home"
    monkeypatch.setenv("DAGSTER_HOME", str(home))

    assert execute(["dagster", "--version"]) == 0
    assert "dagster, version 1." in capfd.readouterr().out
    assert (home / "dagster.yaml").read_text("utf-8") == bundled.dagster_settings().read_text("utf-8")

    (home / "dagster.yaml").write_text("telemetry: {enabled: true}\n", "utf-8")
    assert execute(["dagster", "--version"]) == 0
    assert (home / "dagster.yaml").read_text("utf-8") == "telemetry: {enabled: true}\n"


def test_open_runs_duckdbs_shell_on_the_published_file_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    published = tmp_path / "warehouse/data/analytics.duckdb"
    assert execute(["open"]) == 1
    published.parent.mkdir(parents=True)
    published.touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert execute(["open"]) == 2
    assert "vetl query" in capfd.readouterr().err

    shell = tmp_path / "duckdb"
    shell.write_text('#!/bin/sh\necho "$@"\n')
    shell.chmod(0o755)
    assert execute(["open"]) == 0
    assert capfd.readouterr().out == f"-readonly {published}\n"
