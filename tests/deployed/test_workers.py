"""Runs on workers of Celery and Kubernetes: two shards at the same time, and a killed worker."""

import os
import signal
from collections.abc import Generator
from pathlib import Path

import dagster as dg
import pytest
import vetl_sandbox
from support import truth
from support.dagster_site import Site, kubernetes_site, workers_site
from support.processes import until
from vetl.loading.layout import shards_of
from vetl.orchestration.list_status import list_statuses
from vetl.settings import load_settings

SLOW = vetl_sandbox.Fault("slow", in_a_row=None, wait_seconds=0.2)
SHARDS = "[warehouse.shards]\nnorth = ['loc-001', 'loc-002']\nsouth = ['loc-003', 'loc-004']\n"


@pytest.fixture(params=[workers_site, kubernetes_site])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Site]:
    with request.param(tmp_path, practices=4, days=10, calls=120, more=SHARDS) as site:
        yield site


def run_of(site: Site, backfill: str) -> str:
    """Return the only run of a backfill, after it has begun to read."""

    def begun() -> str | None:
        runs = site.instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill}))
        started = [run.run_id for run in runs if site.instance.get_run_step_stats(run.run_id, ["sync"])]
        return started[0] if started else None

    return until(backfill, begun)


def test_shards_are_read_by_two_workers_at_once_and_a_killed_one_is_taken_over(site: Site) -> None:
    settings = load_settings(site.config)
    site.platform.faults.set([SLOW])

    north, south = (
        run_of(site, backfill)
        for backfill in [site.backfill(["loc-001", "loc-002"]), site.backfill(["loc-003", "loc-004"])]
    )
    assert site.process_of(north) != site.process_of(south)
    os.kill(site.process_of(south), signal.SIGKILL)

    assert site.ended(north).status is dg.DagsterRunStatus.SUCCESS
    assert site.ended(south).status is dg.DagsterRunStatus.FAILURE
    site.platform.faults.set([])

    def taken_over() -> dg.DagsterRun | None:
        again = site.instance.get_runs(dg.RunsFilter(tags={"dagster/parent_run_id": south}))
        return site.ended(again[0].run_id) if again else None

    again = until("the run that takes over", taken_over)
    assert again.status is dg.DagsterRunStatus.SUCCESS, [
        record.message for record in site.instance.all_logs(again.run_id)
    ]
    assert {item.state for item in list_statuses(settings)} == {"certified"}
    since = settings.practices[0].history_start
    zones = {one.id: one.time_zone for one in site.platform.practices}
    for file, names in zip(shards_of(settings.warehouse.path).values(), (2, 4), strict=True):
        own = {name: zones[name] for name in sorted(zones)[names - 2 : names]}
        assert truth.differences(site.platform, file, own, since=since) == []

    of_all = site.ended(site.launch())
    assert of_all.status is dg.DagsterRunStatus.SUCCESS, "a worker reads both shards, one by one"
