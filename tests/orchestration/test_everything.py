"""The job of the schedules, over a real sandbox, with a list, a field and a mart more than vetl ships.

CONTRIBUTING lists the files that each of them changes. The warehouse has a name that needs quotes.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.contributions import (
    ROOM,
    add_field_and_mart,
    checkout_with_estimates,
    run_everything,
    serve_estimates,
    serve_room,
)
from support.practice_site import site
from support.warehouse_with_rows import ask
from vetl.endpoints import REGISTRY
from vetl.figures.ask import MetricQuestion, ask as answer_of

ESTIMATES = 250
TABLES = {*(endpoint.table for endpoint in REGISTRY), "estimates"}


@dataclass(frozen=True)
class FinishedRun:
    """One run for both practices: Dagster's events by asset and partition, and the published file."""

    recorded: dict[str, Any]
    published: Path

    def events_of(self, asset: str) -> dict[str | None, dict[str, Any]]:
        return {partition: metadata for name, partition, metadata in self.recorded["assets"] if name == asset}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> FinishedRun:
    folder = tmp_path_factory.mktemp("site")
    checkout = checkout_with_estimates(folder / "checkout")
    add_field_and_mart(checkout)
    with pytest.MonkeyPatch.context() as patch, site(folder, patch, practices=2) as (platform, config):
        patch.setenv("DBT_EMPTY", "1")  # of somebody's shell: no table would have a row
        patch.setenv("VETL_WAREHOUSE__PATH", str(folder / "warehouse/data/my new-one.v2.duckdb"))
        serve_estimates(platform, ESTIMATES)
        serve_room(platform)
        return FinishedRun(run_everything(checkout, config), folder / "warehouse/data/analytics.duckdb")


def test_it_syncs_builds_and_publishes(finished: FinishedRun) -> None:
    assert finished.recorded["success"], finished.recorded["log"]
    published = finished.events_of("published/analytics")[None]
    assert "| practices | 2 |" in published["marts"]
    assert finished.published.exists()


def test_each_list_records_its_totals_once_and_each_practice_with_changes(finished: FinishedRun) -> None:
    calls = finished.events_of("partner/phone_calls")

    assert set(calls) == {None, *finished.recorded["partitions"]}
    rows = calls[None]["dagster/row_count"]
    assert rows == sum(calls[name]["practice/rows"] for name in calls if name)
    assert calls[None]["practices"] == calls[None]["certified"] == 2
    assert calls[None]["new"] == rows > 0
    assert calls[None]["bytes"] == sum(calls[name]["practice/bytes"] for name in calls if name) > 100 * rows
    assert calls[None]["retries"] == 0


def test_every_check_passes_over_a_source_at_rest(finished: FinishedRun) -> None:
    checks = {(asset, check): passed for asset, check, passed in finished.recorded["checks"]}

    for table in TABLES:
        assert checks[f"partner/{table}", "certified"]
        assert checks[f"partner/{table}", "fresh"]
    assert checks["published/analytics", "equals_source"]


def test_a_new_list_is_proven_in_the_published_file(finished: FinishedRun) -> None:
    """The path names the practice; the total is the platform's."""
    proof = "select source_count, warehouse_count, evidence from meta.proof where endpoint = 'estimates'"
    rows = ask(finished.published, proof)

    assert rows == [(ESTIMATES, ESTIMATES, "ids received match an unchanged total")] * 2


def test_a_new_field_and_a_new_mart_with_its_metric_are_published(finished: FinishedRun) -> None:
    [(tasks,)] = ask(finished.published, "select count(*) from marts.staff_tasks where room = ?", ROOM)
    rows = ask(finished.published, "select room, sum(tasks) from marts.tasks_by_room group by room")

    assert tasks
    assert rows == [(ROOM, tasks)]
    answer = answer_of(finished.published, MetricQuestion("tasks_of_rooms", by=("room",)))
    assert [row[:2] for row in answer.rows] == [(ROOM, tasks)]
