"""Runs on workers of Celery and Kubernetes: a run whose worker is killed is taken over."""

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
from vetl.jobs.judgements import list_statuses
from vetl.settings import load_settings

SLOW = vetl_sandbox.Fault("slow", in_a_row=None, wait_seconds=0.2)


@pytest.fixture(params=[workers_site, kubernetes_site])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Site]:
    with request.param(tmp_path, practices=4, days=10, calls=120) as site:
        yield site


def run_of(site: Site, backfill: str) -> str:
    """Return the only run of a backfill, after it has begun to read."""

    def begun() -> str | None:
        runs = site.instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill}))
        started = [run.run_id for run in runs if site.instance.get_run_step_stats(run.run_id, ["sync"])]
        return started[0] if started else None

    return until(backfill, begun)


def test_the_run_of_a_killed_worker_is_taken_over_by_another(site: Site) -> None:
    settings = load_settings(site.config)
    site.platform.faults.set([SLOW])

    killed = run_of(site, site.backfill([practice.id for practice in settings.practices]))
    os.kill(site.process_of(killed), signal.SIGKILL)

    assert site.ended(killed).status is dg.DagsterRunStatus.FAILURE
    site.platform.faults.set([])

    def taken_over() -> dg.DagsterRun | None:
        again = site.instance.get_runs(dg.RunsFilter(tags={"dagster/parent_run_id": killed}))
        return site.ended(again[0].run_id) if again else None

    again = until("the run that takes over", taken_over)
    assert again.status is dg.DagsterRunStatus.SUCCESS, [
        record.message for record in site.instance.all_logs(again.run_id)
    ]
    assert {item.state for item in list_statuses(settings)} == {"certified"}
    zones = {one.id: one.time_zone for one in site.platform.practices}
    since = settings.practices[0].history_start
    assert truth.differences(site.platform, settings.warehouse.path, zones, since=since) == []
