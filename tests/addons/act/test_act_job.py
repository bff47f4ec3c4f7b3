"""Dagster's job applies a plan by its digest; a check names a task that has been unknown for a day."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.act_world import ActWorld, toml_of, unbooked
from vetl.addons.act.dagster import act, check_acts, config_of_a_plan, known, ledger_of_acts
from vetl.addons.act.ledger import utc_now
from vetl.addons.act.settings import ActSettings
from vetl.jobs.status_report import read_status
from vetl.orchestration.resources import VetlResource
from vetl_sandbox import Fault


@pytest.fixture
def dagster_side(installed: ActWorld) -> dg.Definitions:
    Path("vetl.toml").write_text(toml_of(installed, enabled=True), "utf-8")
    watch = dg.define_asset_job("watch", dg.AssetSelection.checks(check_acts))
    return dg.Definitions(
        assets=[ledger_of_acts],
        asset_checks=[check_acts],
        jobs=[act, watch],
        resources={"vetl": VetlResource(config=str(Path("vetl.toml").absolute()))},
    )


def run(definitions: dg.Definitions, job: str, config: Any = None) -> dg.ExecuteInProcessResult:
    return definitions.resolve_job_def(job).execute_in_process(raise_on_error=False, run_config=config)


def applied(world: ActWorld, definitions: dg.Definitions) -> dict[str, Any]:
    """Plan as a tick of the schedule does, and run the job on this plan."""
    config = config_of_a_plan(world.act(enabled=True))
    return metadata(run(definitions, "act", config))


def metadata(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    [event] = result.get_asset_materialization_events()
    return {name: item.value for name, item in event.materialization.metadata.items()}


def test_to_materialize_the_ledger_sends_nothing(installed: ActWorld, dagster_side: dg.Definitions) -> None:
    """«Materialize all» once sent three tasks to a clinic."""
    installed.build(unbooked(3))
    everything = dagster_side.resolve_implicit_global_asset_job_def()

    assert everything.execute_in_process().success
    assert everything.execute_in_process().success

    assert installed.posts() == 0


def test_the_job_demands_the_digest_of_a_plan_that_fits(installed: ActWorld, dagster_side: dg.Definitions) -> None:
    digest = installed.plan(unbooked(3))
    with pytest.raises(dg.DagsterInvalidConfigError, match="digest"):
        run(dagster_side, "act")
    installed.build(unbooked(2))
    assert not run(dagster_side, "act", {"ops": {"apply_plan": {"config": {"digest": digest}}}}).success
    assert installed.posts() == 0

    Path("vetl.toml").write_text(toml_of(installed, enabled=False), "utf-8")
    assert run(dagster_side, "act", {"ops": {"apply_plan": {"config": {"digest": digest}}}}).success, "skipped"
    assert isinstance(config_of_a_plan(installed.act(enabled=False)), dg.SkipReason)
    assert installed.posts() == 0


def test_a_run_says_what_was_sent_and_held_back(installed: ActWorld, dagster_side: dg.Definitions) -> None:
    installed.build(unbooked(3))
    installed.platform.faults.set([Fault("closed", path="POST */staff_tasks", most=1, in_a_row=None)])

    first, second = applied(installed, dagster_side), applied(installed, dagster_side)

    shown = ("sent", "adopted", "unknown", "held_back")
    assert [first[name] for name in shown] == [2, 1, 0, 0]
    assert [second[name] for name in shown] == [0, 0, 0, 0]
    assert len(set(installed.codes())) == 3


def test_a_task_that_is_unknown_for_a_day_fails_the_check_and_vetl_status(
    installed: ActWorld, dagster_side: dg.Definitions
) -> None:
    """The platform of the tests has a clock of its own, far behind: an unknown task is old at once."""
    settings = installed.settings
    installed.build(unbooked(2))
    assert run(dagster_side, "watch").success
    installed.platform.faults.set([Fault("status", path="POST */staff_tasks", most=1, in_a_row=None)])
    assert applied(installed, dagster_side)["unknown"] == 1

    asked_at = installed.platform.now()
    assert known(settings, asked_at + timedelta(hours=23)).rows == []
    assert len(known(settings, asked_at + timedelta(hours=25)).rows) == 1
    assert not run(dagster_side, "watch").success
    problems = [item for item in read_status(settings, now=utc_now()).problems if "vetl act status" in item.line]
    assert [(item.exit_code, item.line) for item in problems] == [
        (3, "it has been unknown for longer than a day whether 1 staff task was made; see `vetl act status`")
    ]
    ActSettings.of(settings).ledger.write_bytes(b"no ledger" * 100)
    assert any(item.exit_code == 1 and "acts.sqlite" in item.line for item in read_status(settings).problems)
