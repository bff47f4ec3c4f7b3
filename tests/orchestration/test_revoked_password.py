"""A password that is revoked during a run: one clear line, and no other work stops.

`test_checks_of_each_job.py` has one that is revoked before a run.
"""

from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from support.practice_site import site

from pipelines.engine import runner
from pipelines.jobs import client as jobs_client
from pipelines.orchestration.areas import Areas
from pipelines.orchestration.checks import check_lists
from pipelines.orchestration.list_status import list_statuses
from pipelines.orchestration.lists import list_assets, raw_key
from pipelines.orchestration.received import received_tables
from pipelines.orchestration.resources import VetlResource
from pipelines.partner.retry_policy import RetryPolicy
from pipelines.settings import load_settings
from sandbox import Fault
from sandbox.faults import Faults
from sandbox.platform import Credentials

AT_ONCE = dg.RetryPolicy(max_retries=2, delay=0)
NO_AREAS = Areas({"nodes": {}, "sources": {}, "child_map": {}})
REFUSED = "sign-in refused"
CALLS, TASKS = raw_key("phone_calls"), raw_key("staff_tasks")


class RevokedAt(Faults):
    """The password and every token end at the first request of a practice."""

    def __init__(self, platform: Any, practice: str) -> None:
        super().__init__()
        self._platform, self._practice, self.done = platform, practice, False

    def strike(self, path: str, event: str) -> Fault | None:
        if not self.done and event.endswith(f" {self._practice}"):
            self.done = True
            self._platform.platform.credentials = Credentials(password="another")
            self._platform.platform.revoke_tokens()
        return super().strike(path, event)


class Site:
    """The real sync, drain and checks over a sandbox; `marts` is a substitute for the models of the lists."""

    def __init__(self, platform: Any, config: Path) -> None:
        self.platform, self._config = platform, config
        self.instance = dg.DagsterInstance.ephemeral()

        @dg.asset(deps=[CALLS, TASKS])
        def marts() -> None: ...

        received = received_tables(NO_AREAS)
        self._definitions = dg.Definitions(
            assets=[list_assets(NO_AREAS, AT_ONCE), received, marts],
            asset_checks=[check_lists],
            jobs=[dg.define_asset_job("everything", dg.AssetSelection.all())],
            resources={"vetl": VetlResource(config=str(config))},
        )

    def run(self) -> dg.ExecuteInProcessResult:
        job = self._definitions.resolve_job_def("everything")
        return job.execute_in_process(instance=self.instance, raise_on_error=False)

    def states(self) -> dict[tuple[str, str], str]:
        lists = list_statuses(load_settings(self._config))
        return {(item.practice_id, item.endpoint): item.state for item in lists}

    def states_of(self, practice: str) -> set[str]:
        return {state for (name, _), state in self.states().items() if name == practice}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Site]:
    monkeypatch.setattr(jobs_client, "RetryPolicy", partial(RetryPolicy, first_wait=0.01))
    with site(tmp_path, monkeypatch, practices=3) as (platform, config):
        yield Site(platform, config)


def failures(result: dg.ExecuteInProcessResult) -> dict[str, str]:
    return {
        event.step_key or "": str(event.step_failure_data.user_failure_data.description)
        for event in result.get_step_failure_events()
        if event.step_failure_data.user_failure_data
    }


def test_in_the_middle_of_a_run_committed_rows_stay_and_the_marts_are_built(
    place: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two practices at once, one of the other practices is done when the last one begins."""
    monkeypatch.setattr(runner, "PRACTICES_AT_ONCE", 2)
    last = place.platform.practices[-1].id
    place.platform.platform.faults = RevokedAt(place.platform, last)

    result = place.run()

    assert set(failures(result)) == {"check_lists"}
    assert REFUSED in failures(result)["check_lists"]
    assert "marts" in {event.step_key for event in result.get_step_success_events()}
    states = place.states()
    assert {states[last, name] for name in ("phone_calls", "staff_tasks")} == {"failed"}
    whole = {name for name in {practice for practice, _ in states} if place.states_of(name) == {"certified"}}
    assert whole
    [check] = [
        item for item in result.get_asset_check_evaluations() if item.asset_key == TASKS and not item.passed
    ]
    assert check.check_name == "certified"
    text = str(check.metadata["found"].value)
    assert last in text
    assert not any(name in text for name in whole)
