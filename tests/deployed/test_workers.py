"""Runs that Celery gives to workers: two shards at the same time, and a worker that is killed."""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import dagster as dg
import pytest
from deployed.test_processes import postgres
from support import truth
from support.dagster_site import ROOT, Site, site_of
from support.processes import free_port, running, until

import sandbox
from pipelines.loading.layout import shards_of
from pipelines.orchestration.standing import standings
from pipelines.settings import load_settings

BIN = Path(sys.executable).parent
SLOW = sandbox.Fault("slow", in_a_row=None, wait_seconds=0.2)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Site]:
    """Four practices in two shards, Postgres, Redis and two workers, each with a name."""
    with ExitStack() as stack:
        ports = {name: free_port() for name in ("postgres", "redis")}
        stack.enter_context(postgres(tmp_path, ports["postgres"]))
        quiet = ["--port", str(ports["redis"]), "--bind", "127.0.0.1", "--save", ""]
        stack.enter_context(running(["redis-server", *quiet], tmp_path, dict(os.environ)))
        redis = f"redis://127.0.0.1:{ports['redis']}"
        beside = {
            "DAGSTER_PG_HOST": "127.0.0.1",
            "DAGSTER_PG_USER": "dagster",
            "DAGSTER_PG_PASSWORD": "secret",
            "DAGSTER_PG_DB": "postgres",
            "DAGSTER_PG_PORT": str(ports["postgres"]),
            "CELERY_BROKER_URL": f"{redis}/0",
            "CELERY_RESULT_BACKEND": f"{redis}/1",
        }
        for name, value in beside.items():
            monkeypatch.setenv(name, value)
        shards = "[warehouse.shards]\nnorth = ['loc-001', 'loc-002']\nsouth = ['loc-003', 'loc-004']\n"
        world = site_of(
            tmp_path,
            practices=4,
            days=10,
            calls=120,
            dagster_yaml="deploy/workers/dagster.yaml",
            more=shards,
            beside=beside,
        )
        made = stack.enter_context(world)
        for key in ("username", "password", "role"):
            monkeypatch.setenv(f"VETL_PARTNER__{key}".upper(), getattr(made.platform, key))
        environment = {**made.environment, "PATH": f"{BIN}:{os.environ['PATH']}"}  # it starts Celery by its name
        for name in ("one", "two"):
            worker = [str(BIN / "dagster-celery"), "worker", "start", "-A", "dagster_celery.app", "-n", name]
            settings = ["-y", str(ROOT / "deploy/workers/celery.yaml")]
            stack.enter_context(running([*worker, *settings], tmp_path, environment))
        yield made


def run_of(site: Site, backfill: str) -> str:
    """The one run of a backfill, once it has begun to read."""

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
    assert {item.state for item in standings(settings)} == {"certified"}
    since = settings.practices[0].history_start
    zones = {one.id: one.time_zone for one in site.platform.practices}
    for file, names in zip(shards_of(settings.warehouse.path).values(), (2, 4), strict=True):
        own = {name: zones[name] for name in sorted(zones)[names - 2 : names]}
        assert truth.differences(site.platform, file, own, since=since) == []

    of_all = site.ended(site.launch())
    assert of_all.status is dg.DagsterRunStatus.SUCCESS, "a worker reads both shards, one by one"
