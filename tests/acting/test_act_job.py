"""Dagster's job plans and applies; `vetl status` and a check name a task that has been unknown for a day."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.act_world import ActWorld, leaks, toml_of
from vetl.jobs.act_status import utc_now
from vetl.jobs.status import read_status
from vetl.orchestration.acts import check_acts, known, ledger_of_acts
from vetl.orchestration.resources import VetlResource
from vetl_sandbox import Fault


@pytest.fixture
def dagster_side(installed: ActWorld) -> dg.Definitions:
    Path("vetl.toml").write_text(toml_of(installed, enabled=True), "utf-8")
    job = dg.define_asset_job("act", dg.AssetSelection.assets(ledger_of_acts).without_checks())
    watch = dg.define_asset_job("watch", dg.AssetSelection.checks(check_acts))
    return dg.Definitions(
        assets=[ledger_of_acts],
        asset_checks=[check_acts],
        jobs=[job, watch],
        resources={"vetl": VetlResource(config=str(Path("vetl.toml").absolute()))},
    )


def run(definitions: dg.Definitions, job: str) -> dg.ExecuteInProcessResult:
    return definitions.resolve_job_def(job).execute_in_process(raise_on_error=False)


def metadata(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    [event] = result.get_asset_materialization_events()
    return {name: item.value for name, item in event.materialization.metadata.items()}


def test_a_run_says_what_was_planned_sent_and_held_back(installed: ActWorld, dagster_side: dg.Definitions) -> None:
    installed.build(leaks(3))
    installed.platform.faults.set([Fault("closed", path="POST */staff_tasks", most=1, in_a_row=None)])

    first, second = metadata(run(dagster_side, "act")), metadata(run(dagster_side, "act"))

    shown = ("planned", "sent", "adopted", "unknown", "held_back")
    assert [first[name] for name in shown] == [3, 2, 1, 0, 0]
    assert [second[name] for name in shown] == [0, 0, 0, 0, 3]
    assert "has_task" in second["held_back_because"]
    assert len(set(installed.codes())) == 3


def test_a_task_that_is_unknown_for_a_day_fails_the_check_and_vetl_status(
    installed: ActWorld, dagster_side: dg.Definitions
) -> None:
    """The platform of the tests has a clock of its own, far behind: an unknown task is old at once."""
    settings = installed.settings
    installed.build(leaks(2))
    assert run(dagster_side, "watch").success
    installed.platform.faults.set([Fault("status", path="POST */staff_tasks", most=1, in_a_row=None)])
    assert metadata(run(dagster_side, "act"))["unknown"] == 1

    asked_at = installed.platform.now()
    assert known(settings, asked_at + timedelta(hours=23)).rows == []
    assert len(known(settings, asked_at + timedelta(hours=25)).rows) == 1
    assert not run(dagster_side, "watch").success
    problems = [item for item in read_status(settings, now=utc_now()).problems if "vetl act status" in item.line]
    assert [(item.exit_code, item.line) for item in problems] == [
        (3, "it has been unknown for longer than a day whether 1 staff task was made; see `vetl act status`")
    ]
    settings.act.ledger.write_bytes(b"no ledger" * 100)
    assert any(item.exit_code == 1 and "acts.sqlite" in item.line for item in read_status(settings).problems)
