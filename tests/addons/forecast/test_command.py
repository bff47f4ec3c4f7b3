"""`vetl forecast` and its job, over a real warehouse: once a day, before the hours that it is about."""

import json
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest
from support.practice_site import practice_tables
from support.published import published_once
from vetl.addons.forecast import job as forecast
from vetl.addons.forecast.dagster import forecasts
from vetl.cli import app
from vetl.orchestration.resources import VetlResource

Ask = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Provide settings of a copy of the warehouse, which has a forecast, with a practice that never had a call."""
    published = published_once()
    private, copy = (
        Path(shutil.copy(published.with_name(name), tmp_path)) for name in ("vetl.duckdb", published.name)
    )
    config = tmp_path / "vetl.toml"
    config.write_text(
        f'[partner]\nbase_url = "http://127.0.0.1:9"\n'
        f'[warehouse]\npath = "{private}"\npublished = "{copy}"\n'
        + practice_tables("loc-001", "loc-002", "loc-009"),
        "utf-8",
    )
    return config


@pytest.fixture
def ask(config: Path) -> Ask:
    def rows(sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(config.with_name("vetl.duckdb")) as connection:
            connection.execute("set timezone = 'UTC'")
            return connection.execute(sql).fetchall()

    return rows


def predicts(config: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert app.execute(["--config", str(config), "forecast", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_practice_has_one_forecast_a_day_and_a_prediction_is_never_changed(
    config: Path, ask: Ask, capsys: pytest.CaptureFixture[str]
) -> None:
    before = ask("from control.forecasts order by all")
    done = predicts(config, capsys)

    assert done["hours"] == 0
    assert done["practices"].keys() == {"loc-001", "loc-002"}
    assert done["without"] == {"loc-009": "no inbound call is certified"}
    assert ask("from control.forecasts order by all") == before


def test_the_table_refuses_a_prediction_of_an_hour_that_had_begun(ask: Ask) -> None:
    with pytest.raises(duckdb.ConstraintException):
        ask("insert into control.forecasts select * replace (begins_at as made_at) from control.forecasts limit 1")


def test_the_job_predicts_a_day_that_has_none_and_the_next_build_has_news(config: Path, ask: Ask) -> None:
    before = ask("select count(*) from control.forecasts")
    ask("delete from control.forecasts")
    ask("delete from control.changes")
    with dg.DagsterInstance.ephemeral() as instance:
        done = forecasts.execute_in_process(
            resources={"vetl": VetlResource(config=str(config))}, instance=instance
        )

    assert done.success
    assert ask("select count(*) from control.forecasts") == before
    assert {table for (table,) in ask("select table_name from control.changes")} == {"forecasts"}


def test_a_practice_says_why_it_has_no_forecast() -> None:
    today = date(2026, 1, 20)
    usual: dict[str, Any] = {
        "practice_id": "p", "time_zone": "UTC", "as_of": None, "today": today,
        "first_call": today - timedelta(days=200), "last_call": today, "through": today - timedelta(days=1),
    }  # fmt: skip

    def reason(**different: Any) -> str | None:
        return forecast.reason_without(forecast.Span(**{**usual, **different}))

    assert reason() is None
    assert reason(first_call=today - timedelta(days=50)) == "8 weeks of calls are needed, there are 7"
    assert reason(through=today - timedelta(days=8)) == "calls are certified through 2026-01-12 only"
    assert reason(last_call=today - timedelta(days=15)) == "no inbound call since 2026-01-05"
