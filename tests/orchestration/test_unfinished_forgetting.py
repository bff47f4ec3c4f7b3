"""A forgetting that was interrupted is continued by the next build in Dagster, as `vetl run` does."""

from pathlib import Path

import dagster as dg
import pytest
from support.mart_builds import untested
from support.practice_site import site
from support.small_project import small_project

from pipelines import bundled
from pipelines.endpoints import REGISTRY
from pipelines.jobs.forget_plan import ForgetPlan, keep_plans, read_plans
from pipelines.jobs.sync import run_sync
from pipelines.loading.published.query import query
from pipelines.loading.warehouse import Warehouse
from pipelines.orchestration.location import vetl_definitions
from pipelines.settings import load_settings

ONE_MART = dg.AssetKey(["marts", "staff_tasks"])


def test_a_build_continues_a_forgetting_that_was_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = small_project(tmp_path / "few-models", "staff_tasks")
    monkeypatch.setattr(bundled, "dbt_project", lambda: few)
    with site(tmp_path, monkeypatch, practices=1) as (platform, config), untested():
        settings = load_settings(config)
        path = settings.warehouse.path
        assert (
            run_sync(settings, practices=None, endpoints=None, since=None, progress=lambda _: None).exit_code == 0
        )
        [(client,)] = query(path, "select id from raw.clients order by id limit 1").rows
        with Warehouse.open(path, REGISTRY, lock_wait_seconds=0) as warehouse:
            person = warehouse.people.look_up(platform.practices[0].id, client)
        keep_plans(path, [ForgetPlan(person)])

        run = (
            vetl_definitions(config)
            .resolve_implicit_global_asset_job_def()
            .execute_in_process(asset_selection=[ONE_MART], instance=dg.DagsterInstance.ephemeral())
        )

        assert run.success
        assert read_plans(path) == []
        assert query(path, f"select count(*) from raw.clients where id = '{client}'").rows == [(0,)]
