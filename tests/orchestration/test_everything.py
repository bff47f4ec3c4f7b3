"""The job that the schedules ask for, over a real sandbox and a real instance."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.practice_site import site

from pipelines.definitions import vetl_definitions
from pipelines.endpoints import REGISTRY
from pipelines.orchestration.lists import raw_key
from pipelines.orchestration.practices import NAME
from pipelines.orchestration.schedules import EVERYTHING


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path, dg.DagsterInstance]]:
    """One run for both practices, without partitions: as a tick asks for it."""
    folder = tmp_path_factory.mktemp("site")
    with (
        pytest.MonkeyPatch.context() as patch,
        site(folder, patch, practices=2) as (_, config),
        dg.DagsterInstance.ephemeral() as instance,
    ):
        job = vetl_definitions(config).resolve_job_def(EVERYTHING)
        yield job.execute_in_process(instance=instance), folder, instance


def test_it_syncs_builds_and_publishes(done: tuple[Any, Path, dg.DagsterInstance]) -> None:
    result, folder, _ = done

    assert result.success
    published = result.asset_materializations_for_node("published__analytics")[0].metadata
    assert "| practices | 2 |" in str(published["marts"].value)
    assert "at most" in str(published["calls_of_28_days"].value)
    assert (folder / "warehouse/data/analytics.duckdb").exists()


def test_each_list_tells_its_totals_once_and_each_practice_with_news(
    done: tuple[Any, Path, dg.DagsterInstance],
) -> None:
    result, _, instance = done
    told = [
        event.asset_materialization
        for event in instance.all_logs(result.run_id, of_type=dg.DagsterEventType.ASSET_MATERIALIZATION)
        if event.asset_materialization
    ]
    calls: dict[str | None, Any] = {
        item.partition: item.metadata for item in told if item.asset_key == raw_key("phone_calls")
    }

    assert set(calls) == {None, *instance.get_dynamic_partitions(NAME)}
    rows = calls[None]["dagster/row_count"].value
    assert rows == sum(calls[name]["dagster/row_count"].value for name in calls if name)
    assert calls[None]["practices"].value == calls[None]["certified"].value == 2
    assert calls[None]["new"].value == rows > 0


def test_every_check_passes_over_a_source_at_rest(done: tuple[Any, Path, dg.DagsterInstance]) -> None:
    result, _, _ = done
    checks = {(check.asset_key, check.check_name): check for check in result.get_asset_check_evaluations()}

    for endpoint in REGISTRY:
        assert checks[raw_key(endpoint.table), "certified"].passed
        assert checks[raw_key(endpoint.table), "fresh"].passed
    assert checks[dg.AssetKey(["published", "analytics"]), "equals_source"].passed
