"""Dagster with its own processes: practices become partitions, a selection with gaps, and a killed run."""

import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path

import dagster as dg
import pytest
import vetl_sandbox
from support import truth
from support.claim_checker import Witness
from support.dagster_site import BIN, Site, site_of
from support.lists import PAGED
from support.processes import until
from vetl.endpoints import REGISTRY
from vetl.jobs.judgements import list_statuses
from vetl.settings import load_settings
from vetl.store.notes import notes_file, read_snapshot

SLOW = vetl_sandbox.Fault("slow", in_a_row=None, wait_seconds=0.1)


def rows_told(warehouse: Path) -> int:
    """Return the number of rows that are committed so far."""
    snapshot = read_snapshot(warehouse)
    return sum(item.rows for item in snapshot.lists) if snapshot else 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    with site_of(tmp_path_factory.mktemp("dev"), practices=4, days=10, calls=120) as site:
        yield site


def test_a_backfill_of_practices_with_a_gap_is_two_runs_that_queue(site: Site) -> None:
    names = [practice.id for practice in site.platform.practices]
    chosen = set(names) - {names[1]}
    site.platform.faults.set([SLOW])

    backfill = site.backfill(sorted(chosen))

    def done() -> bool:
        record = site.instance.get_backfill(backfill)
        return bool(record and record.status.value.startswith(("COMPLETED", "FAILED")))

    until("the backfill", done)
    site.platform.faults.set([])
    runs = site.instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill}))
    assert [run.status for run in runs] == [dg.DagsterRunStatus.SUCCESS] * 2
    spans = [site.step_of(run.run_id) for run in runs]
    assert max(start for start, _ in spans) >= min(end for _, end in spans)
    settings = load_settings(site.config)
    assert {item.practice_id for item in list_statuses(settings)} == chosen
    for endpoint in REGISTRY:
        made = site.instance.get_materialized_partitions(dg.AssetKey(["partner", endpoint.table]))
        assert made == chosen
    zones = {one.id: one.time_zone for one in site.platform.practices if one.id in chosen}
    since = settings.practices[0].history_start
    assert truth.differences(site.platform, settings.warehouse.path, zones, since=since) == []


def test_two_runs_and_a_sync_from_a_shell_at_once_all_succeed(site: Site) -> None:
    """Steps of runs queue in the pool, and the command waits for the file: no two of them write at once."""
    site.platform.faults.set([SLOW])

    both = [site.launch(), site.launch()]
    command = [str(BIN / "vetl"), "sync"]
    beside = subprocess.run(
        command, cwd=site.config.parent, env=dict(site.environment), capture_output=True, check=False
    )
    site.platform.faults.set([])

    assert beside.returncode == 0, beside.stderr
    assert [site.ended(run_id).status for run_id in both] == [dg.DagsterRunStatus.SUCCESS] * 2
    (_, first_end), (second_start, _) = sorted(site.step_of(run_id) for run_id in both)
    assert first_end <= second_start
    assert set(site.checks()) == {"SUCCEEDED"}


def test_a_cancelled_run_is_run_again_from_its_page(site: Site) -> None:
    site.platform.faults.set([vetl_sandbox.Fault("slow", in_a_row=None, wait_seconds=2)])
    canceled = site.launch()
    until("the step", lambda: site.instance.all_logs(canceled, of_type=dg.DagsterEventType.STEP_START))
    site.cancel(canceled)
    assert site.ended(canceled).status is dg.DagsterRunStatus.CANCELED
    after_cancel = site.checks()
    site.platform.faults.set([])

    assert site.ended(site.again(canceled)).status is dg.DagsterRunStatus.SUCCESS
    assert "none" not in after_cancel
    assert set(site.checks()) == {"SUCCEEDED"}, after_cancel


def test_a_killed_run_is_shown_as_failed_and_the_next_run_continues(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed step loses only uncommitted rows, and gives its slot in the pool back."""
    for key in ("username", "password"):
        monkeypatch.setenv(f"VETL_PARTNER__{key}".upper(), getattr(site.platform, key))
    settings = load_settings(site.config)
    practice = site.platform.practices[0]
    settings.warehouse.path.unlink(missing_ok=True)
    notes_file(settings.warehouse.path).unlink(missing_ok=True)
    witness = Witness(site.platform, settings, PAGED, zone=practice.time_zone, lies=False)
    site.platform.faults.set([SLOW])

    killed = site.launch()
    until("a commit", lambda: rows_told(settings.warehouse.path))
    process = site.process_of(killed)
    os.kill(process, signal.SIGKILL)

    assert site.ended(killed).status is dg.DagsterRunStatus.FAILURE
    assert any(str(process) in record.message for record in site.instance.all_logs(killed))
    assert set(site.checks()) <= {"EXECUTION_FAILED", "IN_PROGRESS", "SUCCEEDED"}
    assert witness.false_claims(None) == []
    site.platform.faults.set([])
    following = site.launch()
    assert site.ended(following).status is dg.DagsterRunStatus.SUCCESS
    assert witness.false_claims(None) == []
    assert {item.state for item in list_statuses(settings)} == {"certified"}
    assert set(site.checks()) == {"SUCCEEDED"}
    zones = {one.id: one.time_zone for one in site.platform.practices}
    since = settings.practices[0].history_start
    assert truth.differences(site.platform, settings.warehouse.path, zones, since=since) == []
