"""Dagster with its own processes: practices become partitions, a choice of them with gaps, and a killed run."""

import os
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from support import truth
from support.practice_site import write_settings
from support.processes import answers, free_port, graphql, running, until
from support.witness import LISTS, Witness

import sandbox
from pipelines import bundled
from pipelines.endpoints import REGISTRY
from pipelines.loading.control.snapshot import read_snapshot, snapshot_path
from pipelines.orchestration.practices import NAME
from pipelines.orchestration.standing import standings
from pipelines.settings import load_settings
from sandbox.clock import START

ROOT = Path(__file__).parents[2]
LOCATION = "support.lists_location"
SELECTOR = {"repositoryLocationName": LOCATION, "repositoryName": "__repository__"}
LAUNCH = """mutation($selector: JobOrPipelineSelector!) {
  launchRun(executionParams: {mode: "default", selector: $selector}) {
  __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
BACKFILL = """mutation($assets: [AssetKeyInput!], $practices: [String!]) {
  launchPartitionBackfill(backfillParams: { assetSelection: $assets, partitionNames: $practices}) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
DONE = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
SLOW = sandbox.Fault("slow", in_a_row=None, wait_seconds=0.1)


@dataclass(frozen=True)
class Site:
    """`dagster dev` over a sandbox: pages, daemon and code location, with the `dagster.yaml` that ships."""

    platform: sandbox.Handle
    config: Path
    pages: str
    instance: dg.DagsterInstance

    def launch(self) -> str:
        told = graphql(self.pages, LAUNCH, selector={**SELECTOR, "pipelineName": "everything"})["launchRun"]
        assert told["__typename"] == "LaunchRunSuccess", told
        return told["run"]["runId"]

    def backfill(self, practices: Sequence[str]) -> str:
        """As *Materialize* does for all lists and the practices that were chosen."""
        assets = [{"path": ["partner", endpoint.table]} for endpoint in REGISTRY]
        told = graphql(self.pages, BACKFILL, assets=assets, practices=practices)["launchPartitionBackfill"]
        assert told["__typename"] == "LaunchBackfillSuccess", told
        return told["backfillId"]

    def ended(self, run_id: str) -> dg.DagsterRun:
        def done() -> dg.DagsterRun | None:
            run = self.instance.get_run_by_id(run_id)
            return run if run and run.status in DONE else None

        return until(run_id, done)

    def step_of(self, run_id: str) -> tuple[float, float]:
        """When the sync of a run began and ended."""
        [step] = self.instance.get_run_step_stats(run_id, ["sync"])
        assert step.start_time
        assert step.end_time
        return step.start_time, step.end_time

    def process_of(self, run_id: str) -> int:
        """Which process executes a run."""
        [begun] = self.instance.all_logs(run_id, of_type=dg.DagsterEventType.STEP_START)
        assert begun.dagster_event
        assert begun.dagster_event.pid
        return begun.dagster_event.pid


def rows_told(warehouse: Path) -> int:
    """The rows that were committed so far."""
    snapshot = read_snapshot(warehouse, bundled.migrations())
    return sum(item["rows"] for item in snapshot.lists) if snapshot else 0


@contextmanager
def site_of(folder: Path, *, practices: int, days: int, calls: int, start: datetime = START) -> Generator[Site]:
    home = folder / "dagster"
    home.mkdir()
    shipped = (ROOT / "deploy/dagster.yaml").read_text("utf-8")
    quick = shipped.replace(
        "slots_after_run_end_seconds: 60", "slots_after_run_end_seconds: 1\n  poll_interval_seconds: 1"
    )
    (home / "dagster.yaml").write_text(quick, "utf-8")
    with sandbox.running(practices=practices, days=days, calls=calls, start=start, frozen=True) as platform:
        config = write_settings(folder, platform, practices=practices, days=days)
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("VETL_", "DAGSTER_"))}
        environment = {
            **plain,
            **{f"VETL_PARTNER__{key}".upper(): getattr(platform, key) for key in ("username", "password", "role")},
            "PYTHONPATH": str(ROOT / "tests"),
            "DAGSTER_HOME": str(home),
            "VETL_CONFIG": str(config),
        }
        port = free_port()
        dagster = str(Path(sys.executable).parent / "dagster")
        command = [dagster, "dev", "-m", LOCATION, "-h", "127.0.0.1", "-p", str(port)]
        # The instance first: two processes that find no tables both make them, and one fails.
        with dg.DagsterInstance.from_config(str(home)) as instance, running(command, folder, environment):
            pages = f"http://127.0.0.1:{port}"
            until("Dagster's pages", lambda: answers(f"{pages}/server_info"))
            names = [practice.id for practice in platform.practices]
            until("partitions", lambda: instance.get_dynamic_partitions(NAME) == names)
            yield Site(platform, config, pages, instance)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    with site_of(tmp_path_factory.mktemp("dev"), practices=4, days=10, calls=120) as site:
        yield site


def test_fifty_practices_over_three_months_with_a_gap_are_two_runs_that_queue(tmp_path: Path) -> None:
    # No clock was put back: the CSV tells the hour that comes twice once.
    with site_of(
        tmp_path, practices=50, days=92, calls=5_000, start=datetime(2025, 9, 20, 18, tzinfo=UTC)
    ) as site:
        names = [practice.id for practice in site.platform.practices]
        chosen = set(names) - {names[20]}

        backfill = site.backfill(sorted(chosen))

        def done() -> bool:
            told = site.instance.get_backfill(backfill)
            return bool(told and told.status.value.startswith(("COMPLETED", "FAILED")))

        until("the backfill", done, seconds=600)
        runs = site.instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill}))
        assert [run.status for run in runs] == [dg.DagsterRunStatus.SUCCESS] * 2
        spans = [site.step_of(run.run_id) for run in runs]
        assert max(start for start, _ in spans) >= min(end for _, end in spans)
        settings = load_settings(site.config)
        assert {item.practice_id for item in standings(settings)} == chosen
        for endpoint in REGISTRY:
            made = site.instance.get_materialized_partitions(dg.AssetKey(["partner", endpoint.table]))
            assert made == chosen
        zones = {one.id: one.time_zone for one in site.platform.practices if one.id in chosen}
        since = settings.practices[0].history_start
        assert truth.differences(site.platform, settings.warehouse.path, zones, since=since) == []


def test_a_killed_run_is_told_as_failed_and_the_next_one_goes_on(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its step dies with what it had not committed; its place in the pool is given back."""
    for key in ("username", "password"):
        monkeypatch.setenv(f"VETL_PARTNER__{key}".upper(), getattr(site.platform, key))
    settings = load_settings(site.config)
    practice = site.platform.practices[0]
    settings.warehouse.path.unlink(missing_ok=True)
    snapshot_path(settings.warehouse.path).unlink(missing_ok=True)
    witness = Witness(site.platform, settings, (*LISTS, "phone_calls"), zone=practice.time_zone, lies=False)
    site.platform.faults.set([SLOW])

    killed = site.launch()
    until("a commit", lambda: rows_told(settings.warehouse.path))
    process = site.process_of(killed)
    os.kill(process, signal.SIGKILL)
    following = site.launch()

    assert site.ended(killed).status is dg.DagsterRunStatus.FAILURE
    assert any(str(process) in record.message for record in site.instance.all_logs(killed))
    assert witness.false_claims(None) == []
    site.platform.faults.set([])
    assert site.ended(following).status is dg.DagsterRunStatus.SUCCESS
    assert witness.false_claims(None) == []
    assert {item.state for item in standings(settings)} == {"certified"}
    zones = {one.id: one.time_zone for one in site.platform.practices}
    assert (
        truth.differences(site.platform, settings.warehouse.path, zones, since=settings.practices[0].history_start)
        == []
    )
